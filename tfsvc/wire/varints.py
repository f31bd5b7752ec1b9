"""Varints, and the fields of a message that are made of them.

A varint is a whole number in as few bytes as it needs, seven bits a byte, the low ones first. Protobuf's library copies
a field of bytes into its message, and again into its output; whoever finds the field here reads it without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator


def varint(value: int) -> bytes:
    """The bytes of a number that is not negative."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: bytes | memoryview, at: int, bits: int = 32) -> tuple[int, int]:
    """The number at byte ``at`` and the place after it.

    Raises:
      ValueError: if none ends there that has ``bits`` bits at the most.
    """
    value = 0
    for shift in range(0, bits, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError(f"no varint of {bits} bits ends at byte {at}")


def fields(data: memoryview) -> Iterator[tuple[int, memoryview, memoryview]]:
    """Each field's tag, all its bytes, and the bytes of its value if it has a length."""
    at = 0
    while at < len(data):
        start = at
        tag, at = read_varint(data, at, 64)
        value_at = at
        match tag & 7:
            case 0:
                _, at = read_varint(data, at, 64)
            case 1:
                at += 8
            case 2:
                length, value_at = read_varint(data, at, 64)
                at = value_at + length
            case 5:
                at += 4
            case kind:
                raise ValueError(f"byte {start} begins a field of the unknown kind {kind}")
        if at > len(data):
            raise ValueError(f"the field at byte {start} reaches {at - len(data)} bytes beyond the end")
        yield tag, data[start:at], data[value_at:at]
