"""Operators that make arrays, and give them another shape, order or size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfsvc.errors import InvalidArgumentError, UnimplementedError
from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.registry import kernel
from tfsvc.graph.values import Run


def ints(x: Any) -> tuple[int, ...]:
    """A vector of sizes or axes."""
    return tuple(int(each) for each in np.reshape(x, -1))


@kernel("Const")
def _const(node: Attributes) -> Run:
    value = node.tensor("value")
    return lambda: value


@kernel("Shape")
def _shape(node: Attributes) -> Run:
    kind = node.type("out_type", np.int32)
    return lambda x: np.array(np.shape(x), kind)


@kernel("ShapeN")
def _shape_n(node: Attributes) -> Run:
    kind = node.type("out_type", np.int32)
    return lambda *inputs: tuple(np.array(np.shape(x), kind) for x in inputs)


@kernel("Size")
def _size(node: Attributes) -> Run:
    kind = node.type("out_type", np.int32)
    return lambda x: np.array(np.size(x), kind)


@kernel("Rank")
def _rank(node: Attributes) -> Run:
    return lambda x: np.array(np.ndim(x), np.int32)


@kernel("Reshape")
def _reshape(node: Attributes) -> Run:
    def run(x: Any, shape: Any) -> Any:
        wanted = ints(shape)
        if -1 in wanted and 0 in wanted and np.size(x) == 0:
            wanted = _without_unknown(wanted, np.shape(x))
        try:
            return np.reshape(x, wanted)
        except ValueError as error:
            size = np.size(x)
            raise InvalidArgumentError(
                message=f"Input to reshape is a tensor with {size} values, but the requested shape {list(wanted)} "
                "does not have as many"
            ) from error

    return run


def _without_unknown(wanted: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Where both shapes have empty dimensions, the others say how large the unknown one is, as TensorFlow has it."""
    have = math.prod(size for size in shape if size)
    known = math.prod(size for size in wanted if size > 0)
    return tuple(have // known if size == -1 else size for size in wanted)


@kernel("Fill")
def _fill(node: Attributes) -> Run:
    return lambda dims, value: np.full(ints(dims), value, np.asarray(value).dtype)


@kernel("ZerosLike", "OnesLike")
def _like(node: Attributes) -> Run:
    make = np.zeros if node.op == "ZerosLike" else np.ones
    return lambda x: make(np.shape(x), np.asarray(x).dtype)


@kernel("Tile")
def _tile(node: Attributes) -> Run:
    return lambda x, multiples: np.tile(x, ints(multiples))


@kernel("ExpandDims")
def _expand_dims(node: Attributes) -> Run:
    return lambda x, axis: np.expand_dims(x, int(np.reshape(axis, ())))


@kernel("Squeeze")
def _squeeze(node: Attributes) -> Run:
    axes = node.ints("squeeze_dims") or node.ints("axis")

    def run(x: Any) -> Any:
        try:
            return np.squeeze(x, axes or None)
        except ValueError as error:
            raise InvalidArgumentError(
                message=f"Can not squeeze dimensions {list(axes)} of a tensor of shape {list(np.shape(x))}: "
                "expected a dimension of 1"
            ) from error

    return run


@kernel("ConcatV2", "Concat")
def _concat(node: Attributes) -> Run:
    last = node.op == "ConcatV2"

    def run(*inputs: Any) -> Any:
        parts, axis = (inputs[:-1], inputs[-1]) if last else (inputs[1:], inputs[0])
        return np.concatenate(parts, axis=int(axis))

    return run


@kernel("Pack")
def _pack(node: Attributes) -> Run:
    axis = node.int("axis", 0)
    return lambda *inputs: np.stack(inputs, axis=axis)


@kernel("Unpack")
def _unpack(node: Attributes) -> Run:
    axis = node.int("axis", 0)
    return lambda x: tuple(np.moveaxis(x, axis, 0))


@kernel("Split")
def _split(node: Attributes) -> Run:
    count = node.int("num_split")
    return lambda axis, x: tuple(np.split(x, count, int(axis)))


@kernel("SplitV")
def _split_v(node: Attributes) -> Run:
    def run(x: Any, sizes: Any, axis: Any) -> Any:
        wanted = list(ints(sizes))
        if -1 in wanted:
            wanted[wanted.index(-1)] = np.shape(x)[int(axis)] - sum(wanted) - 1
        return tuple(np.split(x, np.cumsum(wanted)[:-1], int(axis)))

    return run


@kernel("Transpose")
def _transpose(node: Attributes) -> Run:
    return lambda x, order: np.transpose(x, ints(order))


@kernel("InvertPermutation")
def _invert_permutation(node: Attributes) -> Run:
    return lambda x: np.argsort(x).astype(np.asarray(x).dtype)


@kernel("BroadcastTo")
def _broadcast_to(node: Attributes) -> Run:
    return lambda x, shape: np.broadcast_to(x, ints(shape))


@kernel("BroadcastArgs")
def _broadcast_args(node: Attributes) -> Run:
    return lambda a, b: np.array(np.broadcast_shapes(ints(a), ints(b)), np.asarray(a).dtype)


@kernel("Pad", "PadV2", "MirrorPad")
def _pad(node: Attributes) -> Run:
    def run(x: Any, paddings: Any, value: Any = None) -> Any:
        if node.op == "MirrorPad":
            mode: Any = node.text("mode").lower()
            return np.pad(x, np.asarray(paddings), mode)
        if not np.ndim(x):
            return x
        fill = np.zeros((), np.asarray(x).dtype) if value is None else value
        return np.pad(x, np.asarray(paddings), constant_values=fill)

    return run


@kernel("ReverseV2")
def _reverse(node: Attributes) -> Run:
    return lambda x, axes: np.flip(x, ints(axes))


@kernel("Diag")
def _diag(node: Attributes) -> Run:
    def run(x: Any) -> Any:
        shape = np.shape(x)
        return np.reshape(np.diag(np.reshape(x, -1)), shape + shape)

    return run


@kernel("MatrixDiag", "MatrixDiagV2", "MatrixDiagV3")
def _matrix_diag(node: Attributes) -> Run:
    def run(x: Any, *layout: Any) -> Any:
        x = np.asarray(x)
        size = x.shape[-1]
        if layout and (np.any(layout[0]) or any(int(n) not in (-1, size) for n in layout[1:3])):
            raise UnimplementedError(message=f"{node.op} of '{node.name}' is supported for the main diagonal only")
        out = np.full((*x.shape, size), layout[3] if len(layout) > 3 else np.zeros((), x.dtype), x.dtype)
        out[..., np.arange(size), np.arange(size)] = x
        return out

    return run


@kernel("ListDiff")
def _list_diff(node: Attributes) -> Run:
    kind = node.type("out_idx", np.int32)

    def run(x: Any, gone: Any) -> Any:
        kept = ~np.isin(x, gone)
        return np.asarray(x)[kept], np.flatnonzero(kept).astype(kind)

    return run


@kernel("OneHot")
def _one_hot(node: Attributes) -> Run:
    axis = node.int("axis", -1)

    def run(indices: Any, depth: Any, on: Any, off: Any) -> Any:
        hot = np.asarray(indices)[..., None] == np.arange(int(depth))
        return np.moveaxis(np.where(hot, on, off).astype(np.asarray(on).dtype), -1, axis)

    return run


@kernel("Where")
def _where(node: Attributes) -> Run:
    def run(condition: Any) -> Any:
        if not np.ndim(condition):
            raise InvalidArgumentError(message="WhereOp : Unhandled input dimensions: 0")
        return np.argwhere(condition).astype(np.int64)

    return run


@kernel("Unique")
def _unique(node: Attributes) -> Run:
    kind = node.type("out_idx", np.int32)

    def run(x: Any) -> Any:
        values, first, inverse = np.unique(x, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return values[order], rank[inverse].astype(kind)

    return run


@kernel("MatrixBandPart")
def _band(node: Attributes) -> Run:
    def run(x: Any, lower: Any, upper: Any) -> Any:
        rows, columns = np.shape(x)[-2:]
        i, j = np.ogrid[:rows, :columns]
        kept = ((int(lower) < 0) | (i - j <= int(lower))) & ((int(upper) < 0) | (j - i <= int(upper)))
        return np.where(kept, x, np.zeros((), np.asarray(x).dtype))

    return run
