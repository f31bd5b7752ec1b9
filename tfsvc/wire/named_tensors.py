"""The tensors of a step's messages, copied once on their way out.

The bytes are those of the schema's messages, with the tensors behind all other fields. Protobuf's library would
copy each tensor into its message, that into the outer one, and the whole into its output.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tfsvc.protocol.messages import cluster as c
from tfsvc.wire.varints import varint


class Field(NamedTuple):
    """Where a message has its tensors: the field's name, and its tag."""

    name: str
    tag: bytes


FIELDS: Final[dict[type, Field]] = {
    c.RunStepRequest: Field("feed", b"\x12"),
    c.RunStepResponse: Field("tensor", b"\x0a"),
    c.RunGraphRequest: Field("send", b"\x1a"),
    c.RunGraphResponse: Field("recv", b"\x0a"),
}


def append_tensors(head: bytes, tag: bytes, tensors: Sequence[c.NamedTensor]) -> bytes:
    """The bytes of a message whose other fields are ``head``."""
    parts: list[bytes] = [head]
    for each in tensors:
        name = each.name.encode()
        start = b"".join((b"\x0a", varint(len(name)), name, b"\x12", varint(len(each.tensor))))
        parts += (tag, varint(len(start) + len(each.tensor)), start, each.tensor)
    return b"".join(parts)
