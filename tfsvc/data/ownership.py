"""Whose memory a function's result is, since an element never changes.

A function is handed arrays that cannot be written to. What it gives is taken as it is if it cannot be written to
either, as views of its arguments cannot, or if nobody else can reach its memory; else it is copied. So a function
may fill one buffer again and again, and one that makes new arrays pays nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import getrefcount
from typing import Any

import numpy as np

from tfsvc import nest

_LIST = [object()]
_LISTED = getrefcount(_LIST[0])
"""How many references are counted of what only a list refers to."""


def freeze(value: Any) -> None:
    """Makes the arrays of an element read-only, in place."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, tuple):
        for child in value:
            freeze(child)
    elif not isinstance(value, (np.generic, bytes)) and isinstance(value, Mapping):
        for child in value.values():
            freeze(child)


def settle(made: list[Any]) -> Any:
    """The one element in the list ``made``, to which nothing else may refer, with copies of what could change."""
    if isinstance(made[0], np.ndarray):
        return made[0].copy() if _may_change(made, 0, _LISTED) else made[0]
    if not nest.is_nested(made[0]):
        return made[0]
    leaves = nest.flatten(made[0])
    # The nest refers to each as well.
    changing = [i for i in range(len(leaves)) if _may_change(leaves, i, _LISTED + 1)]
    if not changing:
        return made[0]
    for i in changing:
        leaves[i] = leaves[i].copy()
    return nest.pack_sequence_as(made[0], leaves)


def _may_change(leaves: list[Any], index: int, references: int) -> bool:
    """Whether somebody else may write to an array that has so many references of ours."""
    if not isinstance(leaves[index], np.ndarray) or not leaves[index].flags.writeable:
        return False
    if getrefcount(leaves[index]) > references:
        return True
    owner = [leaves[index].base]
    while isinstance(owner[0], np.ndarray):
        if getrefcount(owner[0]) > _LISTED + 1:
            return True
        owner[0] = owner[0].base
    # Memory that is not NumPy's may be anybody's.
    return owner[0] is not None
