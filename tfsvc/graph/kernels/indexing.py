"""Operators that take parts of arrays, or put parts together by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsvc.errors import InvalidArgumentError
from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.arrays import ints
from tfsvc.graph.kernels.registry import kernel
from tfsvc.graph.values import Run


def gather(params: Any, indices: Any, axis: int = 0, batch: int = 0) -> Any:
    """Slices of ``params`` at ``indices`` along ``axis``.

    Raises:
      InvalidArgumentError: if an index lies outside.
    """
    params, indices = np.asarray(params), np.asarray(indices)
    axis = axis % params.ndim if params.ndim else 0
    size = params.shape[axis]
    bad = indices[(indices < 0) | (indices >= size)]
    if bad.size:
        raise InvalidArgumentError(message=f"indices = {bad.reshape(-1)[0]} is not in [0, {size})")
    if not batch:
        return np.take(params, indices, axis)
    rows = [gather(p, i, axis - batch, 0) for p, i in _rows(params, indices, batch)]
    return np.reshape(np.stack(rows), params.shape[:batch] + rows[0].shape)


def _rows(params: Any, indices: Any, batch: int) -> Any:
    flat = params.reshape(-1, *params.shape[batch:]), indices.reshape(-1, *indices.shape[batch:])
    return zip(*flat, strict=True)


@kernel("Gather", "GatherV2")
def _gather(node: Attributes) -> Run:
    batch = node.int("batch_dims", 0)
    return lambda params, indices, axis=0: gather(params, indices, int(axis), batch)


@kernel("GatherNd")
def _gather_nd(node: Attributes) -> Run:
    def run(params: Any, indices: Any) -> Any:
        params, indices = np.asarray(params), np.asarray(indices)
        limits = np.array(params.shape[: indices.shape[-1]])
        if np.any((indices < 0) | (indices >= limits)):
            raise InvalidArgumentError(message=f"indices do not index into param shape {list(params.shape)}")
        return params[tuple(np.moveaxis(indices, -1, 0))]

    return run


@kernel("ScatterNd")
def _scatter_nd(node: Attributes) -> Run:
    def run(indices: Any, updates: Any, shape: Any) -> Any:
        out, indices = np.zeros(ints(shape), np.asarray(updates).dtype), np.asarray(indices)
        if np.any((indices < 0) | (indices >= np.array(out.shape[: indices.shape[-1]]))):
            raise InvalidArgumentError(message=f"indices do not index into shape {list(out.shape)}")
        np.add.at(out, tuple(np.moveaxis(indices, -1, 0)), updates)
        return out

    return run


@kernel("Slice")
def _slice(node: Attributes) -> Run:
    def run(x: Any, begin: Any, size: Any) -> Any:
        x = np.asarray(x)
        index = []
        for start, count, have in zip(ints(begin), ints(size), x.shape, strict=True):
            stop = have if count == -1 else start + count
            if not 0 <= start <= stop <= have:
                raise InvalidArgumentError(
                    message=f"Expected begin and size within [0, {have}], got {start} and {count}"
                )
            index.append(slice(start, stop))
        return x[tuple(index)]

    return run


def strided_index(node: Attributes, begin: Any, end: Any, strides: Any) -> tuple[Any, ...]:
    """NumPy's index for the masks and vectors of a ``StridedSlice``."""
    masks = {name: node.int(f"{name}_mask", 0) for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    index: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(ints(begin), ints(end), ints(strides), strict=True)):
        bit = 1 << i
        if masks["ellipsis"] & bit:
            index.append(Ellipsis)
        elif masks["new_axis"] & bit:
            index.append(np.newaxis)
        elif masks["shrink_axis"] & bit:
            index.append(start)
        else:
            index.append(slice(None if masks["begin"] & bit else start, None if masks["end"] & bit else stop, step))
    return tuple(index)


@kernel("StridedSlice")
def _strided_slice(node: Attributes) -> Run:
    def run(x: Any, begin: Any, end: Any, strides: Any) -> Any:
        try:
            return np.asarray(x)[strided_index(node, begin, end, strides)]
        except IndexError as error:
            raise InvalidArgumentError(message=f"slice index is out of bounds: {error}") from error

    return run


@kernel("StridedSliceGrad")
def _strided_slice_grad(node: Attributes) -> Run:
    def run(shape: Any, begin: Any, end: Any, strides: Any, dy: Any) -> Any:
        out = np.zeros(ints(shape), np.asarray(dy).dtype)
        out[strided_index(node, begin, end, strides)] = dy
        return out

    return run


@kernel("DynamicStitch", "ParallelDynamicStitch")
def _dynamic_stitch(node: Attributes) -> Run:
    count = node.int("N")

    def run(*inputs: Any) -> Any:
        indices = [np.asarray(each) for each in inputs[:count]]
        data = [np.asarray(each) for each in inputs[count:]]
        size = max((int(each.max()) + 1 for each in indices if each.size), default=0)
        out = np.zeros((size, *data[0].shape[indices[0].ndim :]), data[0].dtype)
        for each, values in zip(indices, data, strict=True):
            out[each] = values
        return out

    return run


@kernel("DynamicPartition")
def _dynamic_partition(node: Attributes) -> Run:
    count = node.int("num_partitions")
    return lambda data, parts: tuple(np.asarray(data)[np.asarray(parts) == i] for i in range(count))
