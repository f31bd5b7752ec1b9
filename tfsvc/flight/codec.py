"""Values of the protocol as JSON, and back: events, commands and births, by the names of their types.

What a value holds for others (elements, tensors, programs, the states of pipelines) is withheld unless asked for: its
length stays, and a tag by which equal ones are known. The key of the tags is drawn for each recording and kept nowhere,
so that even a short body cannot be guessed from its tag.
"""

from __future__ import annotations

import base64
import importlib
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from hashlib import blake2b
from typing import Any, Final

_MODULES: Final = (
    "tfsvc.errors",
    "tfsvc.flight.births",
    "tfsvc.protocol.client.request",
    "tfsvc.protocol.cluster.asker",
    "tfsvc.protocol.cluster.desk",
    "tfsvc.protocol.cluster.names",
    "tfsvc.protocol.computing",
    "tfsvc.protocol.contract",
    "tfsvc.protocol.filing",
    "tfsvc.protocol.frames",
    "tfsvc.protocol.ids",
    "tfsvc.protocol.messages.chronicle",
    "tfsvc.protocol.messages.cluster",
    "tfsvc.protocol.messages.description",
    "tfsvc.protocol.messages.dispatcher",
    "tfsvc.protocol.messages.node",
    "tfsvc.protocol.messages.rpc",
    "tfsvc.protocol.messages.shared",
    "tfsvc.protocol.messages.snapshots",
    "tfsvc.protocol.messages.worker",
    "tfsvc.protocol.production",
    "tfsvc.protocol.reading",
    "tfsvc.protocol.rpc.settings",
    "tfsvc.protocol.rpc.wishes",
    "tfsvc.protocol.settings",
    "tfsvc.protocol.snapshot_updates",
    "tfsvc.protocol.splits",
    "tfsvc.protocol.updates",
)
"""Where the types of events, commands and births are defined."""

WITHHELD: Final = {
    "CallRequest": ("input_tensors",),
    "CallResponse": ("output_tensors",),
    "Checkpoint": ("state",),
    "DatasetDef": ("graph", "program"),
    "Execute": ("calls",),
    "Frame": ("body",),
    "GetElementResponse": ("element",),
    "Invocation": ("input_tensors",),
    "NamedTensor": ("tensor",),
    "Pull": ("inputs",),
    "RecvTensorResponse": ("tensor",),
    "Value": ("tensor",),
}
"""By type, the fields that hold what belongs to users; machines pass it on without reading it."""

TAGGED_MAX: Final = 1 << 12
"""Of a longer body, so many bytes from both ends make the tag."""


class Withheld(bytes):
    """Stands for bytes that a recording does not hold: as long as they were, and equal only to what has their tag."""

    length: int
    tag: str

    def __new__(cls, length: int, tag: str) -> Withheld:
        made = super().__new__(cls)
        made.length, made.tag = length, tag
        return made

    def __len__(self) -> int:
        return self.length

    def __bytes__(self) -> bytes:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Withheld) and (len(self), self.tag) == (len(other), other.tag)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((len(self), self.tag))

    def __repr__(self) -> str:
        return f"<{len(self)} bytes withheld>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Withheld, (len(self), self.tag)


class Codec:
    """Makes JSON of values.

    Args:
      key: of the tags.
      bodies: whether to keep what belongs to users.
    """

    def __init__(self, key: bytes, bodies: bool = False) -> None:
        self._key = key
        self._bodies = bodies

    def encode(self, value: Any) -> Any:
        """Something for ``json.dumps``, from which ``decode`` makes an equal value.

        Raises:
          TypeError: for a value that is not the protocol's.
        """
        kind: Any = type(value)
        if value is None or kind in _PLAIN:
            return value
        if kind is tuple:
            return [self.encode(item) for item in value]
        if kind is Withheld:
            return {"w": [len(value), value.tag]}
        if kind is bytes or kind is memoryview:
            return {"b": base64.b85encode(value).decode()}
        return {"t": [_name(kind), *self._parts(kind, value)]}

    def _encode_hidden(self, value: Any) -> Any:
        """As ``encode`` would what ``withhold`` gives."""
        if type(value) is tuple:
            return [self._encode_hidden(item) for item in value]
        if type(value) in (bytes, memoryview) and len(value):
            return {"w": [len(value), self._tag(value)]}
        return self.encode(value)

    def withhold(self, value: Any) -> Any:
        """A user's field with stand-ins for its bytes; the empty ones are as they are, since machines make such too."""
        if type(value) is tuple:
            return tuple(map(self.withhold, value))
        if type(value) not in (bytes, memoryview) or not len(value):
            return value
        return bytes(value) if self._bodies else Withheld(len(value), self._tag(value))

    def hidden(self, kind: Any) -> tuple[str, ...]:
        """The fields of a type that are withheld."""
        return () if self._bodies else WITHHELD.get(kind.__name__, ())

    def _parts(self, kind: Any, value: Any) -> list[Any]:
        if issubclass(kind, Enum):
            return [value.value]
        if issubclass(kind, tuple):
            return [self.encode(item) for item in value]
        hidden = self.hidden(kind)
        found = [getattr(value, name) for name in _names(kind)]
        while found and _defaults(kind)[len(found) - 1](found[-1]):
            found.pop()  # what has its default need not be said
        return [
            self._encode_hidden(part) if name in hidden else self.encode(part)
            for name, part in zip(_names(kind), found, strict=False)
        ]

    def _tag(self, body: bytes | memoryview) -> str:
        digest = blake2b(key=self._key, digest_size=8)
        if len(body) <= 2 * TAGGED_MAX:
            digest.update(body)
        else:
            digest.update(body[:TAGGED_MAX])
            digest.update(body[-TAGGED_MAX:])
        return digest.hexdigest()


_PLAIN: Final = frozenset({bool, int, float, str})


def decode(data: Any) -> Any:
    """The value of ``encode``.

    Raises:
      ValueError: if it is not one, or of a kind that this version does not know.
    """
    if isinstance(data, list):
        return tuple(map(decode, data))
    if not isinstance(data, dict):
        return data
    match data:
        case {"t": [str(name), *parts]}:
            kind = _types().get(name)
            if kind is None:
                raise ValueError(f"{name} is of a kind that this version does not know")
            return kind(*map(decode, parts))
        case {"b": str(text)}:
            return base64.b85decode(text)
        case {"w": [int(length), str(tag)]}:
            return Withheld(length, tag)
        case _:
            raise ValueError(f"{str(data)[:60]} is not a value")


@cache
def _types() -> dict[str, Callable[..., Any]]:
    """Every type by its name; where two modules use one name, by module and name."""
    return {_name(kind): kind for kind in _all_types()}


@cache
def _all_types() -> tuple[type, ...]:
    found: dict[type, None] = {}
    for module in map(importlib.import_module, _MODULES):
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__ == module.__name__ and _is_data(value):
                found[value] = None
    return tuple(found)


def _is_data(kind: type) -> bool:
    return is_dataclass(kind) or issubclass(kind, Enum) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


@cache
def _name(kind: Any) -> str:
    if kind not in _all_types():
        raise TypeError(f"{kind.__module__}.{kind.__qualname__} is no type of the protocol")
    shared = [other for other in _all_types() if other.__name__ == kind.__name__]
    return kind.__name__ if len(shared) == 1 else f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _defaults(kind: Any) -> tuple[Callable[[Any], bool], ...]:
    """For each field, whether a value is what it has when nothing is said."""
    return tuple(_is_default(field.default, field.default_factory) for field in fields(kind))


def _is_default(default: Any, factory: Any) -> Callable[[Any], bool]:
    if factory is not MISSING:
        default = factory()
    if default is MISSING:
        return lambda value: False
    return lambda value: type(value) is type(default) and bool(value == default)
