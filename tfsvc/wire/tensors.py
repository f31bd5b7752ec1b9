"""Arrays to ``TensorProto`` and back.

A tensor travels in one of two forms. The data service writes *content* (the memory of the tensor as
one byte string), the RPC service writes *typed* (one entry an element in a field of its type).
TensorFlow reads both, and so does :func:`from_proto`.

Rules of the typed form, from TensorFlow's ``tensor.cc``: half and bfloat16 are their 16 bits in
``half_val``; the float8 types are bytes in ``float8_val``; complex numbers are (real, imaginary)
pairs; integers up to 32 bits are in ``int_val``. Fewer values than elements: the last one repeats;
none at all means zeros.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from tfsvc.errors import UnimplementedError
from tfsvc.specs import DType, as_dtype
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.buffers import STRING, Array, byte_size, canonical, raw, strings, view
from tfsvc.wire.errors import decodes, parse, serialize
from tfsvc.wire.varints import fields, read_varint, varint

EXPANDED_BYTES_MAX = 1 << 28
"""The largest array that :func:`from_proto` makes of a proto with fewer values than elements."""

VIEWED_BYTES_MIN = 4096
"""Smaller tensors are read by protobuf's library, which is faster for them."""

_CONTENT = b"\x22"
"""The tag of ``tensor_content``."""

_FIELDS: dict[str, tuple[str, str]] = {
    "float32": ("float_val", "float32"),
    "float64": ("double_val", "float64"),
    "int64": ("int64_val", "int64"),
    "uint64": ("uint64_val", "uint64"),
    "uint32": ("uint32_val", "uint32"),
    "bool": ("bool_val", "bool"),
    "complex64": ("scomplex_val", "float32"),
    "complex128": ("dcomplex_val", "float64"),
    "float16": ("half_val", "uint16"),
    "bfloat16": ("half_val", "uint16"),
} | {name: ("int_val", name) for name in ("int32", "int16", "int8", "uint16", "uint8", "int4", "uint4")}
"""The typed field of a data type, and the type whose numbers stand in it (the same memory).

The float8 types and strings are not here: their field is not a list of numbers.
"""


def to_proto(value: Any, *, typed: bool = False) -> pb.TensorProto:
    """``value`` as a ``TensorProto``, in content form or (``typed``) in typed form.

    Raises:
      InvalidArgumentError: if TensorFlow has no such data type.
    """
    array, dtype = canonical(value)
    proto = pb.TensorProto(dtype=wire_dtype(dtype), tensor_shape=shape_proto(array.shape))
    if dtype == STRING:
        values = array.reshape(-1).tolist()
        if typed:
            proto.string_val.extend(values)
        else:
            proto.tensor_content = join_strings(values)
    elif not typed:
        proto.tensor_content = bytes(raw(array))
    elif dtype.name in _FIELDS:
        field, number = _FIELDS[dtype.name]
        getattr(proto, field).extend(_numbers(array, number))
    else:
        proto.float8_val = bytes(raw(array))
    return proto


@decodes("a TensorProto")
def from_proto(proto: pb.TensorProto) -> Array:
    """The array of a ``TensorProto`` in either form; read-only, and a view where it can be.

    An unknown rank is read as a scalar, as TensorFlow does.

    Raises:
      WireError: if the data type is none, a dimension is negative, the content has the wrong length,
        there are more values than elements, or the values would be repeated beyond
        :data:`EXPANDED_BYTES_MAX`.
      UnimplementedError: for a data type that has no NumPy counterpart (resource, variant, quantized).
    """
    dtype = dtype_of(proto.dtype)
    shape = [dim.size for dim in proto.tensor_shape.dim]
    size = byte_size(dtype, shape)
    if proto.tensor_content:
        if dtype == STRING:
            return strings(split_strings(proto.tensor_content, math.prod(shape)), shape)
        if len(proto.tensor_content) != size:
            raise ValueError(f"shape {shape} of {dtype.name} takes {size} bytes, not {len(proto.tensor_content)}")
        return view(proto.tensor_content, 0, dtype, shape)
    values = _typed_values(proto, dtype)
    have, want = len(values), math.prod(shape)
    if have > want:
        raise ValueError(f"shape {shape} has {want} elements, but there are {have} values")
    if have < want:
        if size > EXPANDED_BYTES_MAX:
            raise ValueError(f"{have} values would become {size} bytes")
        values = _repeated(values, want, dtype)
    array = values.reshape(shape)
    array.flags.writeable = False
    return array


def to_bytes(value: Any) -> bytes:
    """The bytes that ``tf.io.serialize_tensor`` makes: typed form for strings, content form for the rest."""
    array, dtype = canonical(value)
    if dtype == STRING:
        return serialize(to_proto(array, typed=True))
    if not array.size:
        return _head(dtype, array.shape)
    return b"".join((_head(dtype, array.shape), _CONTENT, varint(array.nbytes), raw(array)))


def from_bytes(data: bytes | memoryview) -> Array:
    """The array of a serialized ``TensorProto``, a view where it can be; raises like :func:`from_proto`."""
    if len(data) < VIEWED_BYTES_MIN:
        return from_proto(parse(pb.TensorProto, data))
    return _viewed(memoryview(data))


@decodes("a TensorProto")
def _viewed(data: memoryview) -> Array:
    """Like :func:`from_proto`, but the content is not copied unless it has to be aligned."""
    content: memoryview | None = None
    rest: list[memoryview] = []
    for tag, field, value in fields(data):
        if tag == _CONTENT[0]:
            content = value
        else:
            rest.append(field)
    proto = parse(pb.TensorProto, b"".join(rest))
    if content is None or proto.dtype == wire_dtype(STRING):
        proto.tensor_content = b"" if content is None else bytes(content)
        return from_proto(proto)
    dtype = dtype_of(proto.dtype)
    shape = [dim.size for dim in proto.tensor_shape.dim]
    if len(content) != byte_size(dtype, shape):
        raise ValueError(f"shape {shape} of {dtype.name} takes {byte_size(dtype, shape)} bytes, not {len(content)}")
    array = view(content, 0, dtype, shape)
    if not array.flags.aligned:
        array = array.copy()
        array.flags.writeable = False
    return array


@functools.lru_cache(maxsize=1024)
def _head(dtype: DType, shape: tuple[int, ...]) -> bytes:
    """A tensor's message without its values."""
    return serialize(pb.TensorProto(dtype=wire_dtype(dtype), tensor_shape=shape_proto(shape)))


def shape_proto(shape: Iterable[int | None] | None) -> pb.TensorShapeProto:
    """A shape as a message; an unknown dimension is -1, ``None`` a shape of unknown rank."""
    if shape is None:
        return pb.TensorShapeProto(unknown_rank=True)
    return pb.TensorShapeProto(dim=[pb.TensorShapeProto.Dim(size=-1 if d is None else d) for d in shape])


def wire_dtype(dtype: DType) -> pb.DataType:
    """The number of a data type, under the name that the generated code has for such numbers."""
    return cast("pb.DataType", dtype.as_datatype_enum)


def dtype_of(number: int) -> DType:
    """The data type of a wire number.

    Raises:
      ValueError: if the number stands for no type.
      UnimplementedError: if TensorFlow has the type and we have not.
    """
    try:
        return as_dtype(number)
    except TypeError:
        name = pb.DataType.Name(number) if number in pb.DataType.values() else ""
        if not name or not number:
            raise ValueError(f"{number} is not a data type") from None
        raise UnimplementedError(None, None, f"tensors of {name} cannot be read as arrays") from None


def _numbers(array: Array, number: str) -> list[Any]:
    flat = array.reshape(-1)
    if flat.dtype != number:
        flat = flat.view(as_dtype(number).numpy)
    if number in ("int4", "uint4"):
        flat = flat.astype(np.int8)
    numbers: list[Any] = flat.tolist()
    return numbers


def _typed_values(proto: pb.TensorProto, dtype: DType) -> Array:
    """The values that are there, flat: as many as the field holds."""
    if dtype == STRING:
        return strings(list(proto.string_val), [-1])
    if dtype.name not in _FIELDS:
        return np.frombuffer(proto.float8_val, dtype.numpy)
    field, number = _FIELDS[dtype.name]
    held = getattr(proto, field)
    if number in ("int4", "uint4"):
        return np.fromiter(held, np.int32, len(held)).astype(dtype.numpy)
    return np.fromiter(held, as_dtype(number).numpy, len(held)).view(dtype.numpy)


def _repeated(values: Array, count: int, dtype: DType) -> Array:
    """``count`` values, the last one repeating; a single one takes no more memory than itself."""
    if not len(values):
        values = strings([b""], [1]) if dtype == STRING else np.zeros(1, dtype.numpy)
    if len(values) == 1:
        return np.broadcast_to(values, count)
    array = np.empty(count, dtype.numpy)
    array[: len(values)] = values
    array[len(values) :] = values[-1]
    return array


def join_strings(values: Sequence[bytes]) -> bytes:
    """The content form of strings: their lengths as varints, then the bytes back to back."""
    return b"".join([*map(varint, map(len, values)), *values])


def split_strings(content: bytes, count: int) -> list[bytes]:
    """The ``count`` strings that :func:`join_strings` joined; ``ValueError`` if they do not fill the content."""
    if count > len(content):
        raise ValueError(f"{count} strings cannot stand in {len(content)} bytes")
    at, lengths = 0, []
    for _ in range(count):
        length, at = read_varint(content, at)
        lengths.append(length)
    if at + sum(lengths) != len(content):
        raise ValueError(f"strings of {sum(lengths)} bytes after {at} bytes of lengths make not {len(content)} bytes")
    out = []
    for length in lengths:
        out.append(content[at : at + length])
        at += length
    return out
