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
    return namedtuple(name, fields)


def named_fields(value: object) -> tuple[str, ...] | None:
    """The fields of a named tuple; ``None`` for anything else."""
    fields = getattr(value, "_fields", None)
    return fields if isinstance(value, tuple) and isinstance(fields, tuple) else None
