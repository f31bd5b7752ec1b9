"""Chunks: files of elements, as TensorFlow's saved datasets, snapshots and distributed snapshots have them.

A chunk is a TFRecord file, compressed or not. An element is one record for each of its components in flat order,
a serialized ``TensorProto`` in content form. What the components are part of stands elsewhere.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import IO, Any

from tfsvc.errors import DataLossError
from tfsvc.specs import DType, TensorSpec
from tfsvc.storage.compression import Compressor
from tfsvc.storage.folders import NewFile
from tfsvc.storage.records import FRAME_BYTES, encode_record, read_record
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.buffers import STRING, Array, byte_size, canonical, strings, view
from tfsvc.wire.errors import serialize
from tfsvc.wire.tensors import from_bytes, join_strings, shape_proto, wire_dtype
from tfsvc.wire.varints import varint

_CONTENT_TAG = b"\x22"
_STRING_HEAD = b"\x08\x07\x12\x00" + _CONTENT_TAG
"""Data type 7, an empty shape, and the content's tag."""


class ChunkWriter:
    """Writes one chunk; what is not closed is no whole chunk.

    Args:
      file: where it goes; closed or abandoned with the chunk.
      compression: "", "GZIP", "ZLIB" or "SNAPPY".

    Raises:
      InvalidArgumentError: if there is no such compression.
    """

    def __init__(self, file: NewFile, compression: str) -> None:
        self._file = file
        try:
            self._compressor = Compressor(self._file, compression)
        except BaseException:
            file.abandon()
            raise

    def write(self, components: Sequence[Any]) -> None:
        """Appends an element, given by its components in flat order.

        Raises:
          InvalidArgumentError: if TensorFlow has no such data type.
        """
        for component in components:
            self._compressor.write(encode_record(encode_component(component)))

    def close(self) -> None:
        """Returns when the chunk is durable."""
        self._compressor.finish()
        self._file.close()

    def abandon(self) -> None:
        """Lets go of the file as it is."""
        self._file.abandon()


def read_element(file: IO[bytes], filename: str, components: int) -> tuple[int, list[bytes]] | None:
    """How many bytes the next element takes, and its records; ``None`` at the end of the chunk.

    Raises:
      DataLossError: if a record is damaged, or the chunk ends within an element.
    """
    records: list[bytes] = []
    while len(records) < components:
        record = read_record(file, filename)
        if record is None:
            break
        records.append(record)
    if not records:
        return None
    if len(records) < components:
        raise DataLossError(
            message=f"{filename} ends behind {len(records)} of the {components} components of an element"
        )
    return sum(map(len, records)) + FRAME_BYTES * components, records


def encode_component(component: Any) -> bytes:
    """A ``TensorProto`` in content form.

    Raises:
      InvalidArgumentError: if TensorFlow has no such data type.
    """
    array, dtype = canonical(component)
    if dtype == STRING:
        content = join_strings(array.reshape(-1).tolist())
        return _head(dtype, array.shape, len(content)) + content
    return _head(dtype, array.shape, array.nbytes) + array.tobytes()


def decode_component(record: bytes) -> Any:
    """A component: an array, or a NumPy scalar or ``bytes`` where it has no dimension.

    Raises:
      WireError: if the bytes are no tensor.
    """
    array = from_bytes(record)
    return array if array.ndim else array[()]


def decode_column(records: Sequence[bytes], spec: TensorSpec) -> Array | None:
    """The same component of many elements as one array with a further dimension in front.

    ``None`` unless ``spec`` has a known shape and all records are written as :func:`encode_component` writes what fits
    it; then they must be decoded one by one.
    """
    if spec.dtype == STRING:
        return _string_column(records) if spec.shape == () else None
    shape = tuple(size for size in spec.shape or () if size is not None)
    if spec.shape is None or len(shape) < len(spec.shape):
        return None
    size = byte_size(spec.dtype, shape)
    head = _head(spec.dtype, shape, size)
    length = len(head) + size
    if any(len(record) != length or not record.startswith(head) for record in records):
        return None
    content = b"".join([record[len(head) :] for record in records])
    return view(content, 0, spec.dtype, (len(records), *shape))


def _string_column(records: Sequence[bytes]) -> Array | None:
    column = list(map(_string, records))
    return None if None in column else strings(column, [len(column)])


def _string(record: bytes) -> Any:
    """The string of a record, or ``None`` if that is no scalar string."""
    size = len(record) - len(_STRING_HEAD) - 2
    # A length below 128 takes one byte, the content's as the string's.
    if 0 <= size < 127 and record.startswith(_STRING_HEAD) and record[-size - 2 :][:2] == bytes((size + 1, size)):
        return record[len(record) - size :]
    value = decode_component(record)
    return value if isinstance(value, bytes) else None


@functools.lru_cache(maxsize=1024)
def _head(dtype: DType, shape: tuple[int, ...], size: int) -> bytes:
    """What stands in a ``TensorProto`` before ``size`` bytes of content; TensorFlow leaves out empty content."""
    proto = serialize(pb.TensorProto(dtype=wire_dtype(dtype), tensor_shape=shape_proto(shape)))
    return proto + _CONTENT_TAG + varint(size) if size else proto
