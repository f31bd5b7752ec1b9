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
from tfsvc.columns import Columns
from tfsvc.data.elements import PLAIN, is_leaf_array
from tfsvc.data.stacking import Rows

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


def freeze_all(columns: Columns) -> None:
    """Makes the arrays of all elements read-only, in place."""
    if not isinstance(columns, Rows):
        freeze(columns.leaves)
    elif not columns.plain:
        for row in columns.rows:
            freeze(row)


def is_settled(holder: Any, key: Any) -> bool:
    """Whether ``holder[key]`` surely is an element that stays what it is; ``holder`` is all that refers to it."""
    kind = type(holder[key])
    if kind in PLAIN:
        return True
    if getrefcount(holder[key]) > _LISTED:
        return False
    if kind is np.ndarray:
        return holder[key].base is None and is_leaf_array(holder[key])
    below = holder[key]
    if kind is tuple:
        for place in range(len(below)):
            if not is_settled(below, place):
                return False
        return True
    if kind is dict:
        for name in below:
            # Keys of other types may have no order, which somebody else finds out.
            if type(name) is not str or not is_settled(below, name):
                return False
        return True
    return False


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
