"""Operators that stand only in graphs of gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsvc.errors import InvalidArgumentError
from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.arrays import ints
from tfsvc.graph.kernels.registry import kernel, plain
from tfsvc.graph.values import Run


def _broadcast_gradient_args(a: Any, b: Any) -> Any:
    """The axes over which each of two broadcast arrays must be summed."""
    kind = np.asarray(a).dtype
    one, other = ints(a), ints(b)
    rank = max(len(one), len(other))
    one, other = (1,) * (rank - len(one)) + one, (1,) * (rank - len(other)) + other
    reduced: tuple[list[int], list[int]] = [], []
    for axis, (x, y) in enumerate(zip(one, other, strict=True)):
        if x != y and 1 not in (x, y):
            raise InvalidArgumentError(message=f"Incompatible shapes: {list(ints(a))} vs. {list(ints(b))}")
        if x == 1:
            reduced[0].append(axis)
        if y == 1:
            reduced[1].append(axis)
    if one == other and np.shape(a) == np.shape(b):
        reduced = [], []
    return np.array(reduced[0], kind), np.array(reduced[1], kind)


def _zero_like(x: Any) -> Any:
    return np.zeros((), np.asarray(x).dtype)


plain(
    {
        "BroadcastGradientArgs": _broadcast_gradient_args,
        "EluGrad": lambda dy, y: np.where(np.less(y, 0), dy * (y + np.ones((), np.asarray(y).dtype)), dy),
        "InvGrad": lambda y, dy: -dy * y * y,
        "ReciprocalGrad": lambda y, dy: -dy * y * y,
        "Relu6Grad": lambda dy, x: np.where(np.greater(x, 0) & np.less(x, 6), dy, _zero_like(dy)),
        "ReluGrad": lambda dy, x: np.where(np.greater(x, 0), dy, _zero_like(dy)),
        "RsqrtGrad": lambda y, dy: dy * np.asarray(-0.5, np.asarray(y).dtype) * y * y * y,
        "SigmoidGrad": lambda y, dy: dy * y * (np.ones((), np.asarray(y).dtype) - y),
        "SoftplusGrad": lambda dy, x: dy / (np.ones((), np.asarray(x).dtype) + np.exp(np.negative(x))),
        "SqrtGrad": lambda y, dy: dy * np.asarray(0.5, np.asarray(y).dtype) / y,
        "TanhGrad": lambda y, dy: dy * (np.ones((), np.asarray(y).dtype) - y * y),
    }
)


@kernel("LeakyReluGrad")
def _leaky_relu_grad(node: Attributes) -> Run:
    alpha = node.float("alpha", 0.2)
    return lambda dy, x: np.where(np.greater(x, 0), dy, dy * np.asarray(alpha, np.asarray(dy).dtype))


@kernel("ConcatOffset")
def _concat_offset(node: Attributes) -> Run:
    def run(axis: Any, *shapes: Any) -> Any:
        offsets, at = [], 0
        for shape in shapes:
            offset = np.zeros_like(shape)
            offset[int(axis)] = at
            at += int(shape[int(axis)])
            offsets.append(offset)
        return tuple(offsets)

    return run
