"""Checkpoints in TensorFlow's own files: an index of tensors by name, and files with their bytes.

``<prefix>.index`` is a sorted table of entries, each with a tensor's type, shape and place;
``<prefix>.data-00000-of-00001`` holds the bytes. TensorFlow reads what is written here, and the other way round.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import google_crc32c

from tfsvc.errors import DataLossError, NotFoundError, UnimplementedError
from tfsvc.storage.records import mask
from tfsvc.storage.tables import read_table, write_table
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.buffers import STRING, Array, canonical, raw, strings, view
from tfsvc.wire.cluster_pb2 import BundleEntryProto, BundleHeaderProto
from tfsvc.wire.errors import parse, serialize
from tfsvc.wire.tensors import dtype_of, shape_proto, wire_dtype
from tfsvc.wire.varints import read_varint, varint

_U32: Final = struct.Struct("<I")
_U64: Final = struct.Struct("<Q")


def write_checkpoint(prefix: str, tensors: Mapping[str, Array]) -> None:
    """Writes a checkpoint; the index comes last, so that one that is torn is none."""
    header = BundleHeaderProto(num_shards=1, version=pb.VersionDef(producer=1))
    entries = {b"": serialize(header)}
    Path(prefix).parent.mkdir(parents=True, exist_ok=True)
    data_name = _data_name(prefix, 0, 1)
    with open(f"{data_name}.tmp", "wb") as data:
        for name, tensor in sorted(tensors.items()):
            array, dtype = canonical(tensor)
            content, checksum = _text(array) if dtype == STRING else _plain(raw(array))
            entry = BundleEntryProto(dtype=wire_dtype(dtype), shape=shape_proto(array.shape))
            entry.offset, entry.size, entry.crc32c = data.tell(), len(content), checksum
            entries[name.encode()] = serialize(entry)
            data.write(content)
    Path(f"{prefix}.index.tmp").write_bytes(write_table(entries))
    os.replace(f"{data_name}.tmp", data_name)
    os.replace(f"{prefix}.index.tmp", f"{prefix}.index")


def read_checkpoint(prefix: str, names: Sequence[str] | None = None) -> dict[str, Array]:
    """The tensors of a checkpoint, all of them when none is named.

    Raises:
      NotFoundError: if there is no such checkpoint, or it has no such tensor.
      DataLossError: if it is damaged.
      UnimplementedError: if a tensor was saved in parts, or by a machine of the other byte order.
    """
    index_name = f"{prefix}.index"
    try:
        table = read_table(Path(index_name).read_bytes(), index_name)
    except FileNotFoundError as error:
        raise NotFoundError(
            message=f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {prefix}"
        ) from error
    header = parse(BundleHeaderProto, table.pop(b"", b""))
    if header.endianness:
        raise UnimplementedError(message=f"{prefix} was written by a machine of the other byte order")
    found = {}
    for name in [key.decode() for key in table] if names is None else names:
        entry = table.get(name.encode())
        if entry is None:
            raise NotFoundError(message=f"Key {name} not found in checkpoint {prefix}")
        found[name] = _read(prefix, name, parse(BundleEntryProto, entry), header.num_shards)
    return found


def remove_checkpoint(prefix: str) -> None:
    """Deletes its files, where they are there."""
    for path in Path(prefix).parent.glob(f"{Path(prefix).name}.*"):
        path.unlink(missing_ok=True)


def _read(prefix: str, name: str, entry: BundleEntryProto, shards: int) -> Array:
    if entry.slices:
        raise UnimplementedError(message=f"'{name}' in {prefix} was saved in parts, which cannot be put together here")
    data_name = _data_name(prefix, entry.shard_id, shards)
    with open(data_name, "rb") as data:
        data.seek(entry.offset)
        content = data.read(entry.size)
    dtype, shape = dtype_of(entry.dtype), [dim.size for dim in entry.shape.dim]
    if dtype == STRING:
        values, checksum = _read_text(content, math.prod(shape))
    else:
        values, checksum = [], _plain(content)[1]
    if len(content) < entry.size or checksum != entry.crc32c:
        raise DataLossError(
            message=f"TensorBundle at {prefix} shard {entry.shard_id}: Checksum does not match: '{name}'"
        )
    return strings(values, shape) if dtype == STRING else view(content, 0, dtype, shape)


def _data_name(prefix: str, shard: int, shards: int) -> str:
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def _plain(content: bytes | memoryview) -> tuple[bytes, int]:
    data = bytes(content)
    return data, mask(google_crc32c.value(data))


def _text(array: Array) -> tuple[bytes, int]:
    """Lengths as varints, their checksum, and the texts; the whole's checksum takes the lengths as whole numbers."""
    values: list[bytes] = array.reshape(-1).tolist()
    crc = 0
    for value in values:
        crc = google_crc32c.extend(crc, _number(len(value)))
    of_lengths = _U32.pack(mask(crc))
    crc = google_crc32c.extend(crc, of_lengths)
    for value in values:
        crc = google_crc32c.extend(crc, value)
    return b"".join([*(varint(len(value)) for value in values), of_lengths, *values]), mask(crc)


def _read_text(content: bytes, count: int) -> tuple[list[bytes], int]:
    at, crc = 0, 0
    lengths = []
    for _ in range(count):
        length, at = read_varint(content, at, 64)
        lengths.append(length)
        crc = google_crc32c.extend(crc, _number(length))
    crc = google_crc32c.extend(crc, content[at : at + 4])
    at += 4
    values = []
    for length in lengths:
        values.append(content[at : at + length])
        at += length
        crc = google_crc32c.extend(crc, values[-1])
    return values, mask(crc)


def _number(length: int) -> bytes:
    return _U32.pack(length) if length < 1 << 32 else _U64.pack(length)
