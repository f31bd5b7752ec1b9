"""TFRecord, the format of a file of byte strings.

A record is its length as a little-endian u64, a checksum of these eight bytes, the data, and a checksum of
the data. A checksum is a masked CRC-32C as a little-endian u32.
"""

from __future__ import annotations

import struct
from typing import IO

import google_crc32c

from tfsvc.errors import DataLossError

_HEAD = struct.Struct("<QI")
_CHECKSUM = struct.Struct("<I")
_MASK = 0xA282EAD8
FRAME_BYTES = _HEAD.size + _CHECKSUM.size
"""What a record takes beside its data."""


def read_record(file: IO[bytes], filename: str) -> bytes | None:
    """The data of the next record, both its checksums verified; ``None`` at the end of the file.

    Raises:
      DataLossError: if the record is torn or damaged; ``filename`` stands in the message.
    """
    head = file.read(_HEAD.size)
    if not head:
        return None
    if len(head) < _HEAD.size:
        raise _damaged("truncated record", filename)
    length, checksum = _HEAD.unpack(head)
    if masked_crc32c(head[:8]) != checksum:
        raise _damaged("corrupted record (Is this even a TFRecord file, and of this compression?)", filename)
    data, tail = file.read(length), file.read(_CHECKSUM.size)
    if len(data) < length or len(tail) < _CHECKSUM.size:
        raise _damaged("truncated record", filename)
    if masked_crc32c(data) != _CHECKSUM.unpack(tail)[0]:
        raise _damaged("corrupted record", filename)
    return data


def encode_record(data: bytes) -> bytes:
    """The bytes of one record."""
    length = struct.pack("<Q", len(data))
    return b"".join([length, _CHECKSUM.pack(masked_crc32c(length)), data, _CHECKSUM.pack(masked_crc32c(data))])


def masked_crc32c(data: bytes) -> int:
    """TensorFlow's checksum: CRC-32C, turned right by 15 bits, plus a constant, modulo 2**32."""
    return mask(google_crc32c.value(data))


def mask(crc: int) -> int:
    """A CRC-32C as TensorFlow writes it beside what it is of."""
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF


def _damaged(what: str, filename: str) -> DataLossError:
    return DataLossError(message=f"{what} in {filename}")
