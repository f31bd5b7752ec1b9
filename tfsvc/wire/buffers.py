"""Arrays to bytes and back, for every data type and without a copy where the layout allows it."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import DType, as_dtype

Array = np.ndarray[Any, Any]

STRING = as_dtype("string")
RANK_MAX = 64
"""The most dimensions that NumPy knows."""


def canonical(value: Any) -> tuple[Array, DType]:
    """``value`` as a C-ordered little-endian array of a TensorFlow type, and that type.

    Text becomes UTF-8, and every string array an ``object`` array of ``bytes``.

    Raises:
      InvalidArgumentError: if TensorFlow has no such type.
    """
    if isinstance(value, bytes | str):  # NumPy's own byte strings would lose trailing zeros.
        value = np.array(value.encode() if isinstance(value, str) else bytes(value), dtype=object)
    array = np.asarray(value)
    dtype = _dtype_of(array.dtype)
    if dtype == STRING:
        return _bytes_array(array), dtype
    if array.dtype.isnative and array.flags.c_contiguous:
        return array, dtype
    return np.ascontiguousarray(array, dtype.numpy).reshape(array.shape), dtype


def raw(array: Array) -> memoryview:
    """The memory of a canonical numeric array, byte by byte, without a copy."""
    return array.reshape(-1).view(np.uint8).data


def view(data: bytes | memoryview, offset: int, dtype: DType, shape: Sequence[int]) -> Array:
    """An array of a numeric type over the read-only ``data`` from ``offset`` on, without a copy.

    Raises:
      ValueError: if the shape is not a shape, the bytes do not reach, or a bool is neither 0 nor 1.
    """
    size = byte_size(dtype, shape)
    if offset + size > len(data):
        raise ValueError(f"an array of {size} bytes starts at byte {offset} of {len(data)}")
    array: Array = np.ndarray(tuple(shape), dtype.numpy, data if size else b"", offset if size else 0)
    if size and dtype.numpy == np.bool_ and array.view(np.uint8).max() > 1:
        raise ValueError("a bool must be the byte 0 or 1")
    return array


def byte_size(dtype: DType, shape: Sequence[int]) -> int:
    """How many bytes an array of a numeric type takes; ``ValueError`` if the shape cannot be one."""
    if len(shape) > RANK_MAX or (shape and min(shape) < 0):
        raise ValueError(f"the shape {tuple(shape[:RANK_MAX])} has a negative dimension or more than {RANK_MAX}")
    return math.prod(shape) * dtype.numpy.itemsize


def strings(values: Sequence[bytes], shape: Sequence[int]) -> Array:
    """A read-only ``object`` array of ``values`` in flat order."""
    array = np.array(values, dtype=object) if values else np.empty(0, dtype=object)
    array = array.reshape(tuple(shape))
    array.flags.writeable = False
    return array


@functools.lru_cache(maxsize=256)
def _dtype_of(numpy: np.dtype[Any]) -> DType:
    try:
        return as_dtype(numpy)
    except TypeError as error:
        raise InvalidArgumentError(None, None, str(error)) from error


def _bytes_array(array: Array) -> Array:
    if array.dtype.kind == "U":
        array = np.char.encode(array, "utf-8")
    if array.dtype.kind == "S":
        return array.astype(object)
    kinds = set(map(type, array.reshape(-1)))
    if kinds <= {bytes}:
        return array
    if kinds <= {bytes, str, np.bytes_, np.str_}:
        flat = [v.encode() if isinstance(v, str) else bytes(v) for v in array.reshape(-1)]
        return np.array(flat, dtype=object).reshape(array.shape)
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise InvalidArgumentError(None, None, f"an object array must hold bytes or str; this one holds {names}")
