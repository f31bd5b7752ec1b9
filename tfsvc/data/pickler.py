"""Functions as pickles that keep where they were written, and are the same bytes in every process."""

from __future__ import annotations

import io
from dataclasses import dataclass
from types import CodeType
from typing import Any

import cloudpickle

_NAMELESS = "<dynamic-code>"


class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """As ``cloudpickle``'s, but code knows its file, and sets in code have an order."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, _Ordered):
            return frozenset, (sorted(obj.items, key=repr),)
        if isinstance(obj, CodeType):
            make, arguments = self.dispatch_table[CodeType](obj)
            # cloudpickle leaves out where code comes from, which is the first thing that a traceback should say.
            named = (obj.co_filename if argument == _NAMELESS else argument for argument in arguments)
            return make, tuple(map(_ordered, named))
        return super().reducer_override(obj)


def dumps(value: Any) -> bytes:
    """``value`` as a pickle."""
    buffer = io.BytesIO()
    Pickler(buffer, 5).dump(value)
    return buffer.getvalue()


@dataclass(frozen=True)
class _Ordered:
    """Stands for a set written into code, such as ``x in {"a", "b"}``, whose order would differ between processes."""

    items: frozenset[Any]


def _ordered(argument: Any) -> Any:
    if isinstance(argument, tuple):
        return tuple(_Ordered(item) if type(item) is frozenset else item for item in argument)
    return argument
