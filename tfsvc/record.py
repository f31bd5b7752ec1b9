"""Records: frozen dataclasses that are cheap to make.

What the machines of the protocol are told and say is made by the million, each to be read once or twice. Making a
frozen dataclass takes four times as long as making another, since each field is set past a lock, by a call. A record is
open while it is made: it is of a class with the same slots and no lock, until all its fields are set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from types import new_class
from typing import Any, Final, TypeVar, dataclass_transform

T = TypeVar("T")

_become: Final[Callable[[Any, type], None]] = object.__dict__["__class__"].__set__


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """A frozen dataclass with slots: equal and hashed by its fields."""
    frozen: Any = dataclass(frozen=True, slots=True)(cls)
    frozen.__init__ = _maker(frozen)
    frozen.__replace__ = _replacer(frozen)
    return frozen  # type: ignore[no-any-return]


def but(value: T, /, **changes: Any) -> T:
    """A record like ``value`` with other values of some fields; ``dataclasses.replace`` takes three times as long."""
    other: T = value.__replace__(**changes)  # type: ignore[attr-defined]
    return other


def _replacer(frozen: Any) -> Callable[..., Any]:
    names = [each.name for each in fields(frozen)]
    parameters = ["self", *["*"][: len(names)], *[f"{name}=missing" for name in names]]
    values = [f"self.{name} if {name} is missing else {name}" for name in names]
    space: dict[str, Any] = {"frozen": frozen, "missing": MISSING}
    exec(f"def __replace__({', '.join(parameters)}):\n return frozen({', '.join(values)})", space)
    made: Callable[..., Any] = space["__replace__"]
    made.__qualname__ = f"{frozen.__qualname__}.__replace__"
    return made


def _maker(frozen: Any) -> Callable[..., None]:
    """The constructor that ``dataclass`` writes, but for the lock."""
    assert not hasattr(frozen, "__post_init__")
    parameters, values = ["self"], []
    space: dict[str, Any] = {"become": _become, "frozen": frozen, "missing": MISSING}
    bases = getattr(frozen, "__orig_bases__", frozen.__bases__)
    space["Open"] = new_class("Open", bases, exec_body=lambda body: body.update(__slots__=frozen.__slots__))
    for number, each in enumerate(fields(frozen)):
        assert each.init
        assert not each.kw_only
        given = each.name
        if each.default is not MISSING:
            space[f"default{number}"] = each.default
            given = f"{each.name}=default{number}"
        elif each.default_factory is not MISSING:
            space[f"make{number}"] = each.default_factory
            given = f"{each.name}=missing"
        parameters.append(given)
        makes = f"make{number}() if {each.name} is missing else " if f"make{number}" in space else ""
        values.append(f" self.{each.name} = {makes}{each.name}")
    lines = [f"def __init__({', '.join(parameters)}):", " become(self, Open)", *values, " self.__class__ = frozen"]
    exec("\n".join(lines), space)
    made: Callable[..., None] = space["__init__"]
    made.__qualname__ = f"{frozen.__qualname__}.__init__"
    return made
