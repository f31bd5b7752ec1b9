"""Operators that hand values on, stop a step, or choose a branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsvc.errors import InvalidArgumentError
from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.registry import kernel
from tfsvc.graph.values import DEAD, Run
from tfsvc.specs import as_dtype


@kernel("Identity", "StopGradient", "PreventGradient", "Snapshot", "PlaceholderWithDefault", "LoopCond")
def _identity(node: Attributes) -> Run:
    return lambda x: x


@kernel("EnsureShape")
def _ensure_shape(node: Attributes) -> Run:
    wanted = node.shape("shape")

    def run(x: Any) -> Any:
        shape = np.shape(x)
        fits = wanted is None or (
            len(wanted) == len(shape) and all(w in (None, n) for w, n in zip(wanted, shape, strict=True))
        )
        if not fits:
            raise InvalidArgumentError(
                message=f"The tensor's shape {list(shape)} is not compatible with the expected shape "
                f"{told_shape(wanted)}."
            )
        return x

    return run


@kernel("RefIdentity")
def _ref_identity(node: Attributes) -> Run:
    return lambda x: x


@kernel("IdentityN")
def _identity_n(node: Attributes) -> Run:
    return lambda *inputs: inputs


@kernel("NoOp", "ControlTrigger")
def _no_op(node: Attributes) -> Run:
    return lambda: ()


@kernel("Placeholder", "PlaceholderV2")
def _placeholder(node: Attributes) -> Run:
    kind = as_dtype(node.type("dtype"))
    kind_name = {"float32": "float", "float64": "double", "float16": "half"}.get(kind.name, kind.name)
    shape = node.shape("shape")
    about = f"'{node.name}' with dtype {kind_name}"
    if shape:
        about += f" and shape {told_shape(shape)}"

    def run() -> Any:
        raise InvalidArgumentError(message=f"You must feed a value for placeholder tensor {about}")

    return run


def told_shape(shape: Sequence[int | None] | None) -> str:
    """A shape as messages have it."""
    return "<unknown>" if shape is None else f"[{','.join('?' if d is None else str(d) for d in shape)}]"


@kernel("Assert")
def _assert(node: Attributes) -> Run:
    summarize = node.int("summarize", 3)

    def run(condition: Any, *data: Any) -> Any:
        if not np.all(condition):
            shown = " ".join(_told(each, summarize) for each in data)
            raise InvalidArgumentError(message=f"assertion failed: {shown}")
        return ()

    return run


def _told(value: Any, count: int) -> str:
    flat = np.reshape(value, -1)[:count].tolist()
    texts = [each.decode(errors="replace") if isinstance(each, bytes) else str(each) for each in flat]
    return f"[{' '.join(texts)}{'...' if np.size(value) > count else ''}]"


@kernel("Switch", "RefSwitch")
def _switch(node: Attributes) -> Run:
    return lambda value, taken: (DEAD, value) if taken else (value, DEAD)


@kernel("Merge", "RefMerge")
def _merge(node: Attributes) -> Run:
    def run(*inputs: Any) -> Any:
        for index, value in enumerate(inputs):
            if value is not DEAD:
                return value, np.array(index, np.int32)
        return DEAD, DEAD

    return run


@kernel("GuaranteeConst", "DebugIdentity")
def _same(node: Attributes) -> Run:
    return lambda x: x
