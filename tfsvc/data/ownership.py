"""Whose memory a function's result is, since an element never changes.

A function is handed arrays that cannot be written to. What it gives is taken as it is if it cannot be written to
either, as views of its arguments cannot, or if nobody else can reach its memory; else it is copied. So a function
may fill one buffer again and again, and one that makes new arrays pays nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from sys import getrefcount
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.elements import NUMBERS, PLAIN
from tfsvc.data.stacking import Rows


def _references_of_named(listed: list[Any]) -> int:
    made = listed[0]
    return getrefcount(made)


_LIST = [object()]
LISTED = getrefcount(_LIST[0])
"""How many references are counted of what only a list refers to."""
NAMED = _references_of_named(_LIST)
"""How many are counted of what a list and a local name refer to."""
_ITERATED = next(getrefcount(item) for item in _LIST)
"""How many while a loop is at it."""
_TEXT = frozenset({str})


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
    if isinstance(columns, Rows):
        leaves: tuple[Any, ...] = () if columns.plain else (tuple(columns.rows),)
    else:
        leaves = columns.leaves
    for leaf in leaves:
        # At one look, since most rows that are not stacked are numbers or text.
        if isinstance(leaf, np.ndarray) or not PLAIN.issuperset(map(type, leaf)):
            freeze(leaf)


def is_settled(made: list[Any]) -> bool:
    """Whether the last of ``made`` surely is an element that stays what it is, if only that list refers to it."""
    kind = type(made[-1])
    if kind is tuple:
        return getrefcount(made[-1]) == LISTED and _are_settled(made[-1])
    if kind is dict:
        # Keys other than text may have no order, which somebody else finds out.
        named = _TEXT.issuperset(map(type, made[-1]))
        return named and getrefcount(made[-1]) == LISTED and _are_settled(made[-1].values())
    if kind is np.ndarray:
        if getrefcount(made[-1]) > LISTED:
            return False
        array = made[-1]
        return array.base is None and array.dtype in NUMBERS and array.ndim > 0
    return kind in PLAIN


def _are_settled(leaves: Iterable[Any]) -> bool:
    """The same of the leaves of a nest to which nothing else refers; a nest among them is left to others."""
    for leaf in leaves:
        kind = type(leaf)
        if kind is np.ndarray:
            if getrefcount(leaf) > _ITERATED or leaf.base is not None:
                return False
            if leaf.dtype not in NUMBERS or not leaf.ndim:
                return False
        elif kind not in PLAIN:
            return False
    return True


def settle(made: list[Any]) -> Any:
    """The one element in the list ``made``, to which nothing else may refer, with copies of what could change."""
    if isinstance(made[0], np.ndarray):
        return made[0].copy() if _may_change(made, 0, LISTED) else made[0]
    if not nest.is_nested(made[0]):
        return made[0]
    leaves = nest.flatten(made[0])
    # The nest refers to each as well.
    changing = [i for i in range(len(leaves)) if _may_change(leaves, i, LISTED + 1)]
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
        if getrefcount(owner[0]) > LISTED + 1:
            return True
        owner[0] = owner[0].base
    # Memory that is not NumPy's may be anybody's.
    return owner[0] is not None
