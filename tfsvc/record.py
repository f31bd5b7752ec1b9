"""Records: frozen dataclasses that are cheap to make.

What the machines of the protocol are told and say is made by the million, each to be read once or twice. Python's own
frozen dataclasses take four times as long to make as others, since each of their fields is set past a lock. The type
checker holds that nobody writes to a record; Python does not look again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """A dataclass with slots that never changes: equal and hashed by its fields."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
