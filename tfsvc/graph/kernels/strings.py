"""Operators on strings: ``object`` arrays of ``bytes``."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tfsvc.errors import InvalidArgumentError
from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.registry import kernel
from tfsvc.graph.values import Run


def each(function: Any, *inputs: Any, kind: Any = object) -> Any:
    """An array of what ``function`` makes of the elements."""
    if not any(np.size(x) for x in inputs):
        return np.empty(np.broadcast_shapes(*map(np.shape, inputs)), kind)
    return np.vectorize(function, otypes=[kind])(*inputs)


@kernel("StringJoin")
def _join(node: Attributes) -> Run:
    separator = node.text("separator").encode()
    return lambda *inputs: each(lambda *parts: separator.join(parts), *inputs)


@kernel("ReduceJoin")
def _reduce_join(node: Attributes) -> Run:
    separator, keep = node.text("separator").encode(), node.bool("keep_dims")

    def run(x: Any, axes: Any) -> Any:
        x = np.asarray(x, object)
        for axis in sorted((int(a) % x.ndim for a in np.reshape(axes, -1)), reverse=True):
            moved = np.moveaxis(x, axis, -1)
            flat = [separator.join(row) for row in moved.reshape(-1, moved.shape[-1])]
            x = np.array(flat, object).reshape(moved.shape[:-1])
            x = np.expand_dims(x, axis) if keep else x
        return x

    return run


@kernel("StringLength")
def _length(node: Attributes) -> Run:
    return lambda x: each(len, x, kind=np.int32)


@kernel("StringLower", "StringUpper")
def _case(node: Attributes) -> Run:
    change = bytes.lower if node.op == "StringLower" else bytes.upper
    return lambda x: each(change, x)


@kernel("RegexFullMatch", "StaticRegexFullMatch")
def _full_match(node: Attributes) -> Run:
    def matcher(pattern: bytes) -> Any:
        expression = re.compile(pattern)
        return lambda text: expression.fullmatch(text) is not None

    if node.op == "StaticRegexFullMatch":
        matches = matcher(node.text("pattern").encode())
        return lambda x: each(matches, x, kind=np.bool_)
    return lambda x, pattern: each(matcher(np.asarray(pattern).item()), x, kind=np.bool_)


@kernel("AsString")
def _as_string(node: Attributes) -> Run:
    def told(value: Any) -> bytes:
        if isinstance(value, bool | np.bool_):
            return b"true" if value else b"false"
        return f"{value:f}".encode() if isinstance(value, float | np.floating) else str(value).encode()

    return lambda x: each(told, x)


@kernel("StringToNumber")
def _to_number(node: Attributes) -> Run:
    kind = node.type("out_type", np.float32)

    def read(text: bytes) -> Any:
        try:
            return kind.type(text.decode())
        except ValueError as error:
            raise InvalidArgumentError(
                message=f"StringToNumberOp could not correctly convert string: {text.decode(errors='replace')}"
            ) from error

    return lambda x: each(read, x, kind=kind)
