"""Columnar frames: many elements of one structure as one byte string, read without a copy.

Layout, all numbers little-endian::

    "TFSF"  u32 length of the head  FrameDef  padding  column  padding  column ...

A column is one array, or (ragged) one array for each element. An array of numbers is its memory; an
array of strings is their lengths as u64, then their bytes back to back. Counted from the start of the
frame, a column starts at a multiple of 64 bytes and an array within it at a multiple of 8, so that a
frame which lies aligned in memory gives aligned arrays.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfsvc.columns import Columns, Leaf
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import DType
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.buffers import STRING, Array, byte_size, canonical, raw, strings, view
from tfsvc.wire.errors import decodes, parse, serialize
from tfsvc.wire.stacking import LARGE, columns_of
from tfsvc.wire.structures import decode_structure, encode_structure
from tfsvc.wire.tensors import dtype_of

__all__ = ["ALIGNMENT", "ELEMENTS_MAX", "columns_of", "decode_frame", "encode_frame"]

ALIGNMENT = 64
"""Bytes of a cache line and of the widest vector register: where a column may start."""

ELEMENTS_MAX = 1 << 24
"""Elements of one frame. Elements may be empty, so their number needs a bound of its own."""

_ARRAY_ALIGNMENT = 8
_START = struct.Struct("<4sI")
_MAGIC = b"TFSF"
_NONE = 0
"""The data type number of a component that is ``None``."""

SHORT_HEAD = 256
"""Bytes of a head that may be kept: those of frames with the same layout are alike, and most frames are."""


class _Column(NamedTuple):
    """A column as the head tells of it: ``ColumnDef`` as a value."""

    ragged: bool
    dtypes: tuple[int, ...]
    ranks: tuple[int, ...]
    dims: tuple[int, ...]


_Arrays = tuple[tuple[DType | None, tuple[int, ...]], ...]
"""The data types and shapes of a column's arrays; no data type for a component that is ``None``."""


class _Layout(NamedTuple):
    """What a head says: the structure of an element, how many there are, and of each column whether it is ragged."""

    structure: Any
    elements: int
    columns: tuple[tuple[bool, _Arrays], ...]


def encode_frame(columns: Columns) -> bytes:
    """The frame of ``columns``; equal columns give equal bytes.

    Raises:
      InvalidArgumentError: if a component has no TensorFlow data type, a key is not text, or there
        are no elements or more than :data:`ELEMENTS_MAX`.
    """
    if not 0 < columns.count <= ELEMENTS_MAX:
        raise InvalidArgumentError(None, None, f"a frame holds 1 to {ELEMENTS_MAX} elements, not {columns.count}")
    structure = encode_structure(columns.structure)
    body: list[bytes | memoryview] = []
    described = tuple([_write_column(leaf, body) for leaf in columns.leaves])
    alike = not any(column.ragged for column in described)
    text = (_short_head if alike else _head)(columns.count, structure, described)
    start = [_START.pack(_MAGIC, len(text)), text, _padding(_START.size + len(text), ALIGNMENT)]
    return b"".join([*start, *body])


@decodes("a frame")
def decode_frame(data: bytes | bytearray | memoryview) -> Columns:
    """The columns of a frame: read-only views of ``data``, strings excepted.

    Raises:
      WireError: if the bytes are not one whole frame.
    """
    buffer = memoryview(data).toreadonly().cast("B")
    magic, length = _START.unpack_from(buffer)
    if magic != _MAGIC:
        raise ValueError(f"it starts with {magic!r}, not {_MAGIC!r}")
    if length > len(buffer) - _START.size:
        raise ValueError(f"its head has {length} bytes, the frame {len(buffer)}")
    text = bytes(buffer[_START.size : _START.size + length])
    layout = (_short_layout if length <= SHORT_HEAD else _layout)(text)
    reader = _Reader(buffer, _START.size + length)
    leaves = tuple([_read_column(reader, ragged, arrays, layout.elements) for ragged, arrays in layout.columns])
    reader.align(ALIGNMENT)
    if reader.at != len(buffer):
        raise ValueError(f"it ends after {reader.at} of {len(buffer)} bytes")
    return Columns(layout.structure, leaves, layout.elements)


def _head(count: int, structure: bytes, columns: tuple[_Column, ...]) -> bytes:
    described = [pb.ColumnDef(ragged=c.ragged, dtypes=c.dtypes, ranks=c.ranks, dims=c.dims) for c in columns]
    return serialize(pb.FrameDef(count=count, structure=structure, columns=described))


_short_head = functools.lru_cache(maxsize=256)(_head)


def _layout(head: bytes) -> _Layout:
    """What the head of a frame says; ``ValueError`` if it contradicts itself."""
    told = parse(pb.FrameDef, head)
    structure, leaf_count = decode_structure(told.structure)
    if not 0 < told.count <= ELEMENTS_MAX:
        raise ValueError(f"it says that it holds {told.count} elements")
    if leaf_count != len(told.columns):
        raise ValueError(f"an element has {leaf_count} components, but there are {len(told.columns)} columns")
    columns = tuple((column.ragged, _arrays(column, told.count)) for column in told.columns)
    return _Layout(structure, told.count, columns)


_short_layout = functools.lru_cache(maxsize=256)(_layout)


def _arrays(column: pb.ColumnDef, count: int) -> _Arrays:
    dims = tuple(column.dims)
    if len(column.dtypes) != (count if column.ragged else 1) or len(dims) != sum(column.ranks):
        raise ValueError(
            f"a column of {len(column.dtypes)} arrays and {len(dims)} dimensions contradicts its {count} elements"
        )
    arrays, at = [], 0
    for number, rank in zip(column.dtypes, column.ranks, strict=True):
        if rank < 0:
            raise ValueError(f"an array has rank {rank}")
        shape = dims[at : at + rank]
        arrays.append((None if number == _NONE and not shape else dtype_of(number), shape))
        at += rank
    return tuple(arrays)


def _write_column(leaf: Leaf, body: list[bytes | memoryview]) -> _Column:
    """Appends the memory of a column to ``body``; the description of it."""
    if isinstance(leaf, tuple) and _are_alike(leaf):
        return _write_rows(leaf, body)
    ragged = isinstance(leaf, tuple)
    dtypes, ranks, dims, size = [], [], [], 0
    for value in leaf if ragged else (leaf,):
        if value is None:
            dtypes.append(_NONE)
            ranks.append(0)
            continue
        array, dtype = canonical(value)
        dtypes.append(dtype.as_datatype_enum)
        ranks.append(array.ndim)
        dims += array.shape
        if dtype == STRING:
            values = array.reshape(-1).tolist()
            lengths = np.fromiter(map(len, values), "<u8", len(values))
            body += [raw(lengths), *values]
            used = lengths.nbytes + int(lengths.sum())
        else:
            body.append(raw(array))
            used = array.nbytes
        body.append(_padding(used, _ARRAY_ALIGNMENT))
        size += used + len(body[-1])
    body.append(_padding(size, ALIGNMENT))
    return _Column(ragged, tuple(dtypes), tuple(ranks), tuple(dims))


def _are_alike(rows: Sequence[Any]) -> bool:
    """Whether rows that nobody has stacked are large arrays of one shape and numeric type."""
    first = rows[0]
    if not isinstance(first, np.ndarray) or first.nbytes < LARGE or first.dtype.kind in "OSUT":
        return False
    return all(isinstance(a, np.ndarray) and a.shape == first.shape and a.dtype == first.dtype for a in rows)


def _write_rows(rows: Sequence[Array], body: list[bytes | memoryview]) -> _Column:
    """Appends the memory of rows that are alike, which makes one array of them without copying them before."""
    arrays = [canonical(row)[0] for row in rows]
    body += [raw(array) for array in arrays]
    body.append(_padding(sum(array.nbytes for array in arrays), ALIGNMENT))
    shape = arrays[0].shape
    dtype = canonical(rows[0])[1]
    return _Column(False, (dtype.as_datatype_enum,), (1 + len(shape),), (len(arrays), *shape))


def _padding(size: int, alignment: int) -> bytes:
    return bytes(-size % alignment)


def _read_column(reader: _Reader, ragged: bool, arrays: _Arrays, count: int) -> Leaf:
    reader.align(ALIGNMENT)
    if ragged:
        return tuple([reader.array(dtype, shape) for dtype, shape in arrays])
    ((dtype, shape),) = arrays
    stacked: Array = reader.array(dtype, shape)
    if shape[:1] != (count,):
        raise ValueError(f"a column of {count} elements has the dimensions {list(shape)}")
    return stacked


class _Reader:
    """A place in the bytes of a frame."""

    def __init__(self, buffer: memoryview, at: int) -> None:
        self.at = at
        self._buffer = buffer

    def align(self, alignment: int) -> None:
        self.at += -self.at % alignment

    def array(self, dtype: DType | None, shape: Sequence[int]) -> Any:
        """The array that starts here, a scalar without dimensions, or ``None``; the place moves behind it."""
        if dtype is None:
            return None
        if dtype == STRING:
            array = strings(self._strings(byte_size(dtype, shape) and math.prod(shape)), shape)
        else:
            array = view(self._buffer, self.at, dtype, shape)
            self.at += array.nbytes
        self.align(_ARRAY_ALIGNMENT)
        return array[()]

    def _strings(self, count: int) -> list[bytes]:
        lengths = view(self._buffer, self.at, _UINT64, [count])
        self.at += lengths.nbytes
        left = len(self._buffer) - self.at
        if count and lengths.max() > left:
            raise ValueError(f"a string is longer than the {left} bytes that are left")
        ends: list[Any] = np.cumsum(lengths).tolist()
        total = ends[-1] if ends else 0
        if total > left:
            raise ValueError(f"strings of {total} bytes start {left} bytes before the end")
        text = bytes(self._buffer[self.at : self.at + total])
        self.at += total
        return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


_UINT64 = dtype_of(pb.DT_UINT64)
