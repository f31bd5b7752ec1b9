"""Operators that reduce dimensions, and cumulative ones."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from tfsvc.errors import InvalidArgumentError
from tfsvc.graph.attributes import Attributes
from tfsvc.graph.kernels.registry import kernel
from tfsvc.graph.values import Run


def _mean(x: Any, axis: Any, keepdims: bool) -> Any:
    x = np.asarray(x)
    if x.dtype.kind in "iu":
        count = np.prod([x.shape[a] for a in axis], dtype=np.int64) if axis else 1
        total = np.sum(x, axis=axis, keepdims=keepdims, dtype=np.int64)
        return np.trunc(total / max(int(count), 1)).astype(x.dtype)
    count = math.prod(x.shape[a] for a in axis)
    return np.divide(np.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype), np.asarray(count, x.dtype))


def _extreme(function: Any, identity: Any) -> Any:
    def run(x: Any, axis: Any, keepdims: bool) -> Any:
        x = np.asarray(x)
        if x.size:
            return function(x, axis=axis, keepdims=keepdims)
        return function(x, axis=axis, keepdims=keepdims, initial=identity(x.dtype))

    return run


def _lowest(dtype: Any) -> Any:
    return np.iinfo(dtype).min if np.dtype(dtype).kind in "iu" else -np.inf


def _highest(dtype: Any) -> Any:
    return np.iinfo(dtype).max if np.dtype(dtype).kind in "iu" else np.inf


_REDUCE: dict[str, Any] = {
    "Sum": lambda x, axis, keepdims: np.sum(x, axis=axis, keepdims=keepdims, dtype=np.asarray(x).dtype),
    "Prod": lambda x, axis, keepdims: np.prod(x, axis=axis, keepdims=keepdims, dtype=np.asarray(x).dtype),
    "Mean": _mean,
    "Max": _extreme(np.max, _lowest),
    "Min": _extreme(np.min, _highest),
    "All": lambda x, axis, keepdims: np.all(x, axis=axis, keepdims=keepdims),
    "Any": lambda x, axis, keepdims: np.any(x, axis=axis, keepdims=keepdims),
    "EuclideanNorm": lambda x, axis, keepdims: np.sqrt(
        np.sum(np.square(x), axis=axis, keepdims=keepdims, dtype=np.asarray(x).dtype)
    ),
}


@kernel(*_REDUCE)
def _reduce(node: Attributes) -> Run:
    function, keepdims = _REDUCE[node.op], node.bool("keep_dims")

    def run(x: Any, axes: Any) -> Any:
        rank = np.ndim(x)
        axis = tuple(int(a) % rank if -rank <= a < rank else _no_axis(a, rank) for a in np.reshape(axes, -1))
        return function(x, axis, keepdims)

    return run


def _no_axis(axis: Any, rank: int) -> int:
    raise InvalidArgumentError(message=f"Invalid reduction dimension ({axis} for input with {rank} dimension(s))")


@kernel("ArgMax", "ArgMin")
def _arg(node: Attributes) -> Run:
    function = np.argmax if node.op == "ArgMax" else np.argmin
    kind = node.type("output_type", np.int64)
    return lambda x, axis: function(x, axis=int(axis)).astype(kind)


@kernel("Cumsum", "Cumprod")
def _cumulative(node: Attributes) -> Run:
    function = np.cumsum if node.op == "Cumsum" else np.cumprod
    first: int = 0 if node.op == "Cumsum" else 1
    exclusive, reverse = node.bool("exclusive"), node.bool("reverse")

    def run(x: Any, axis: Any) -> Any:
        x, axis = np.asarray(x), int(axis)
        if reverse:
            x = np.flip(x, axis)
        out = function(x, axis=axis, dtype=x.dtype)
        if exclusive:
            out = np.roll(out, 1, axis)
            index = [slice(None)] * x.ndim
            index[axis] = slice(0, 1)
            out[tuple(index)] = first
        return np.flip(out, axis) if reverse else out

    return run


@kernel("L2Loss")
def _l2_loss(node: Attributes) -> Run:
    return lambda x: np.sum(np.square(x), dtype=np.asarray(x).dtype) / np.asarray(2, np.asarray(x).dtype)


@kernel("TopKV2")
def _top_k(node: Attributes) -> Run:
    def run(x: Any, k: Any) -> Any:
        columns = np.shape(x)[-1]
        if not 0 <= int(k) <= columns:
            raise InvalidArgumentError(message=f"input must have at least k columns. Had {columns}, needed {int(k)}")
        # Turned twice, so that of equal ones the first comes first; the negative of some numbers is none.
        ascending = np.argsort(np.flip(x, -1), axis=-1, kind="stable")
        order = (columns - 1 - np.flip(ascending, -1))[..., : int(k)]
        return np.take_along_axis(np.asarray(x), order, -1), order.astype(np.int32)

    return run


@kernel("InTopKV2")
def _in_top_k(node: Attributes) -> Run:
    def run(predictions: Any, targets: Any, k: Any) -> Any:
        predictions = np.asarray(predictions)
        of_target = np.take_along_axis(predictions, np.asarray(targets)[:, None], 1)
        return np.sum(predictions > of_target, axis=1) < int(k)

    return run


def _limits(dtype: Any) -> Any:
    """The finite numbers between which all others lie."""
    limits: Any = ml_dtypes.iinfo if np.dtype(dtype).kind in "iu" else ml_dtypes.finfo
    return limits(dtype)


_SEGMENT: dict[str, tuple[Any, Any]] = {
    "Sum": (np.add, lambda _: 0),
    "Prod": (np.multiply, lambda _: 1),
    "Max": (np.maximum, lambda dtype: _limits(dtype).min),
    "Min": (np.minimum, lambda dtype: _limits(dtype).max),
}
"""How segments are reduced, and what an empty one is."""


@kernel("UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd")
def _unsorted_segment(node: Attributes) -> Run:
    add, first = _SEGMENT[node.op.removeprefix("UnsortedSegment")]

    def run(data: Any, ids: Any, count: Any) -> Any:
        data, ids = np.asarray(data), np.asarray(ids)
        out = np.full((int(count), *data.shape[ids.ndim :]), first(data.dtype), data.dtype)
        bad = ids[ids >= int(count)]
        if bad.size:
            raise InvalidArgumentError(message=f"segment_ids = {bad.flat[0]} is out of range [0, {int(count)})")
        kept = ids >= 0
        add.at(out, ids[kept], data[kept])
        return out

    return run
