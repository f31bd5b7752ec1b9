"""Requests that nobody would send: well-formed ones with absurd values, and real ones with a few values exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from hypothesis import strategies as st

INTEGERS: Final = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
TEXTS: Final = st.sampled_from(
    ("", "0", "1000", "count", "a/b", "../x", "/job:a/replica:0/task:0", "%port%", "é" * 999)
)
PATHS: Final = ("path", "base_path", "directory")
"""What servers write to; it is kept within a folder."""


def absurd(draw: Any, kind: type[Message], folder: str, depth: int = 3) -> Message:
    """A message with some of its fields set, to anything that fits their types."""
    made = kind()
    fields = list(kind.DESCRIPTOR.fields)
    for field in draw(st.lists(st.sampled_from(fields), max_size=6, unique_by=id)) if fields else ():
        put(draw, made, field, folder, depth)
    return made


def exchange(draw: Any, message: Message, folder: str) -> None:
    """Sets a few fields of a message, or of those within it, to something else."""
    for _ in range(draw(st.integers(1, 3))):
        target = draw(st.sampled_from(parts(message)))
        if target.DESCRIPTOR.fields:
            put(draw, target, draw(st.sampled_from(list(target.DESCRIPTOR.fields))), folder, 2)


def parts(message: Message) -> list[Message]:
    """The message and all that are set within it."""
    found = [message]
    for field, value in message.ListFields():
        if field.message_type is not None and not is_map(field):
            for inner in value if field.is_repeated else (value,):
                found += parts(inner)
    return found


def put(draw: Any, message: Message, field: FieldDescriptor, folder: str, depth: int) -> None:
    """Sets one field to anything."""
    if is_map(field):
        return
    if field.message_type is not None:
        if depth:
            inner = [
                absurd(draw, _class_of(field.message_type), folder, depth - 1)
                for _ in range(draw(st.integers(0, 3)) if field.is_repeated else 1)
            ]
            message.ClearField(field.name)
            if field.is_repeated:
                getattr(message, field.name).extend(inner)
            else:
                getattr(message, field.name).CopyFrom(inner[0])
        return
    if field.is_repeated:
        message.ClearField(field.name)
        getattr(message, field.name).extend(draw(st.lists(value_of(field, folder), max_size=5)))
    else:
        setattr(message, field.name, draw(value_of(field, folder)))


def value_of(field: FieldDescriptor, folder: str) -> st.SearchStrategy[Any]:
    """Values of a field that is no message."""
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_BOOL:
            return st.booleans()
        case FieldDescriptor.CPPTYPE_ENUM:
            return st.sampled_from([value.number for value in field.enum_type.values] + _unknown(field))
        case FieldDescriptor.CPPTYPE_FLOAT | FieldDescriptor.CPPTYPE_DOUBLE:
            return st.floats(width=32)
        case FieldDescriptor.CPPTYPE_STRING if field.type == FieldDescriptor.TYPE_BYTES:
            return st.binary(max_size=60)
        case FieldDescriptor.CPPTYPE_STRING if field.name in PATHS:
            return st.text("abc/.", max_size=9).map(lambda text: f"{folder}/{text.replace('..', '.')}")
        case FieldDescriptor.CPPTYPE_STRING:
            return st.text(max_size=20) | TEXTS
        case number:
            least, most = INTEGERS[number]
            edges: Sequence[int] = (least, -1 if least else 0, 0, 1, 2, 1000, most - 1, most)
            return st.sampled_from(edges) | st.integers(least, most)


def _unknown(field: FieldDescriptor) -> list[int]:
    closed = field.enum_type.is_closed
    return [] if closed else [-1, 77, 2**31 - 1]


def is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _class_of(descriptor: Descriptor) -> type[Message]:
    found: type[Message] = descriptor._concrete_class
    return found
