"""Varints: whole numbers in as few bytes as they need, seven bits a byte, the low ones first."""

from __future__ import annotations


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
