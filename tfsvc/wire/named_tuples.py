"""Named tuples that arrive as data: one class for each name and fields."""

from __future__ import annotations

import functools
from collections import namedtuple
from typing import Any


@functools.lru_cache(maxsize=256)
def named_tuple_type(name: str, fields: tuple[str, ...]) -> Any:
    """The class of this name and these fields, the same one at every call.

    Raises:
      ValueError: if the name or a field is no identifier, is reserved or comes twice.
    """
    return namedtuple(name, fields)  # type: ignore[misc]  # noqa: PYI024


def is_named_tuple(value: object) -> bool:
    """Whether ``value`` is an instance of a named tuple type."""
    return isinstance(value, tuple) and isinstance(getattr(value, "_fields", None), tuple)
