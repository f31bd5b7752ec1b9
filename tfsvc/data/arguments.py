"""Arguments of the public methods, checked where they are given."""

from __future__ import annotations

import operator
from typing import Any


def whole(name: str, value: Any) -> int:
    """A whole number; a scalar array of integers is one.

    Raises:
      TypeError: if it is none, such as ``1.5``, which would silently become another.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"`{name}` must be a whole number, but got {value!r} of type {type(value).__name__}.") from None


def check_function(name: str, value: Any) -> None:
    """Checks that an argument can be called.

    Raises:
      ValueError: if it cannot.
    """
    if not callable(value):
        raise ValueError(f"`{name}` must be a callable, but got {value!r} of type {type(value).__name__}.")
