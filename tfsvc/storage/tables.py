"""Sorted tables: files of keys and values in the format of LevelDB, in which TensorFlow keeps its checkpoints' indices.

A file is blocks, then an index of them, then a footer. A block is entries, each with the length of what its
key shares with the one before; then where entries start that share nothing; then how many those are. Behind
each block stand its kind of compression and a checksum.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Final

import cramjam

from tfsvc.errors import DataLossError
from tfsvc.storage.records import masked_crc32c
from tfsvc.wire.varints import read_varint, varint

BLOCK_BYTES: Final = 1 << 18
"""A block ends with the entry that makes it this large."""

_MAGIC: Final = 0xDB4775248B80FB57
_FOOTER_BYTES: Final = 48
_TRAILER: Final = struct.Struct("<BI")
_U32: Final = struct.Struct("<I")
_PLAIN, _SNAPPY = 0, 1


def write_table(entries: Mapping[bytes, bytes]) -> bytes:
    """The file for ``entries``."""
    out = bytearray()
    index: dict[bytes, bytes] = {}
    pending: dict[bytes, bytes] = {}
    size = 0
    for key, value in sorted(entries.items()):
        pending[key] = value
        size += len(key) + len(value)
        if size >= BLOCK_BYTES:
            index[key] = _append(out, pending)
            pending, size = {}, 0
    if pending or not index:
        index[next(reversed(pending), b"")] = _append(out, pending)
    meta, root = _append(out, {}), _append(out, index)
    handles = meta + root
    return bytes(out + handles + bytes(40 - len(handles)) + struct.pack("<Q", _MAGIC))


def read_table(data: bytes, filename: str) -> dict[bytes, bytes]:
    """The entries of a file.

    Raises:
      DataLossError: if it is no table or damaged; ``filename`` stands in the message.
    """
    try:
        if len(data) < _FOOTER_BYTES or struct.unpack("<Q", data[-8:])[0] != _MAGIC:
            raise ValueError("not an sstable (bad magic number)")
        at = len(data) - _FOOTER_BYTES
        for _ in range(2):
            _, at = read_varint(data, at, 64)
        found: dict[bytes, bytes] = {}
        for _, handle in _entries(_block(data, data[at:])):
            found.update(_entries(_block(data, handle)))
        return found
    except (ValueError, struct.error, cramjam.DecompressionError) as error:
        raise DataLossError(message=f"{filename} cannot be read as a checkpoint: {error}") from error


def _append(out: bytearray, entries: Mapping[bytes, bytes]) -> bytes:
    """Adds a block, and gives where it lies."""
    block = bytearray()
    for key, value in entries.items():
        block += varint(0) + varint(len(key)) + varint(len(value)) + key + value
    starts = _starts(entries) or [0]
    block += b"".join(map(_U32.pack, [*starts, len(starts)]))
    handle = varint(len(out)) + varint(len(block))
    kind = bytes((_PLAIN,))
    out += block + kind + _U32.pack(masked_crc32c(bytes(block) + kind))
    return handle


def _starts(entries: Mapping[bytes, bytes]) -> list[int]:
    """Where each entry starts; none shares its key with another."""
    starts, at = [], 0
    for key, value in entries.items():
        starts.append(at)
        at += len(varint(0) + varint(len(key)) + varint(len(value))) + len(key) + len(value)
    return starts


def _block(data: bytes, handle: bytes) -> bytes:
    offset, at = read_varint(handle, 0, 64)
    size, _ = read_varint(handle, at, 64)
    block = data[offset : offset + size]
    kind, checksum = _TRAILER.unpack_from(data, offset + size)
    if masked_crc32c(block + bytes((kind,))) != checksum:
        raise ValueError(f"the block at byte {offset} is damaged")
    if kind == _SNAPPY:
        return bytes(cramjam.snappy.decompress_raw(block))
    if kind != _PLAIN:
        raise ValueError(f"the block at byte {offset} is compressed in the unknown way {kind}")
    return block


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    (count,) = _U32.unpack(block[-4:])
    end = len(block) - 4 * (count + 1)
    at, key = 0, b""
    while at < end:
        shared, at = read_varint(block, at)
        own, at = read_varint(block, at)
        size, at = read_varint(block, at)
        key = key[:shared] + block[at : at + own]
        at += own
        yield key, block[at : at + size]
        at += size
