"""The records of one TFRecord file, the inner part of ``TFRecordDataset``.

A record is its length as a little-endian u64, a checksum of these eight bytes, the data, and a checksum of
the data. A checksum is a masked CRC-32C as a little-endian u32.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import IO

import google_crc32c

from tfsvc.data.ops.files import FileRecords
from tfsvc.errors import DataLossError

_HEAD = struct.Struct("<QI")
_CHECKSUM = struct.Struct("<I")
_MASK = 0xA282EAD8


@dataclass(frozen=True, eq=False)
class TFRecords(FileRecords):
    """The data of each record, both its checksums verified."""

    name = "TFRecordDataset"

    def read(self, file: IO[bytes]) -> bytes:
        head = file.read(_HEAD.size)
        if not head:
            return b""
        if len(head) < _HEAD.size:
            raise self._damaged("truncated record")
        length, checksum = _HEAD.unpack(head)
        if masked_crc32c(head[:8]) != checksum:
            raise self._damaged("corrupted record (Is this even a TFRecord file?)")
        body = file.read(length + _CHECKSUM.size)
        if len(body) < length + _CHECKSUM.size:
            raise self._damaged("truncated record")
        if masked_crc32c(body[:length]) != _CHECKSUM.unpack_from(body, length)[0]:
            raise self._damaged("corrupted record")
        return head + body

    def record(self, read: bytes) -> bytes:
        return read[_HEAD.size : -_CHECKSUM.size]

    def _damaged(self, what: str) -> DataLossError:
        return DataLossError(message=f"{what} in {self.filename}")


def masked_crc32c(data: bytes) -> int:
    """TensorFlow's checksum: CRC-32C, turned right by 15 bits, plus a constant, modulo 2**32."""
    crc: int = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF


def encode_record(data: bytes) -> bytes:
    """The bytes of one record."""
    length = struct.pack("<Q", len(data))
    return b"".join([length, _CHECKSUM.pack(masked_crc32c(length)), data, _CHECKSUM.pack(masked_crc32c(data))])
