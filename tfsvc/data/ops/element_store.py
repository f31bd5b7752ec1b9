"""Elements under numbers: columns for as long as they have one form, else a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.stacking import pick


class ElementStore:
    """Gives each element a number, and the element for its number, once."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._used = 0
        self._structure: Any = None
        self._leaves: list[Any] = []
        self._rows: list[Any] | None = None

    @property
    def holds_rows(self) -> bool:
        """Whether elements are a list by now, so that :meth:`take` has no columns to give."""
        return self._rows is not None

    def fits(self, piece: Columns) -> bool:
        """Whether :meth:`put` can take these elements."""
        return self._rows is None and (not self._used or bool(piece.structure == self._structure))

    def put(self, piece: Columns) -> Sequence[int]:
        """The numbers of the elements of ``piece``."""
        if not self._used:
            self._structure = piece.structure
            self._leaves = [np.empty_like(leaf) if isinstance(leaf, np.ndarray) else [] for leaf in piece.leaves]
        reused = self._free[len(self._free) - piece.count :] if len(self._free) >= piece.count else []
        del self._free[len(self._free) - len(reused) :]
        numbers = reused or range(self._used, self._used + piece.count)
        self._used = max(self._used, numbers[-1] + 1)
        for place, leaf in enumerate(piece.leaves):
            self._leaves[place] = _written(self._leaves[place], numbers, leaf, self._used)
        return numbers

    def take(self, numbers: Sequence[int]) -> Columns:
        """The elements as columns, for good."""
        taken = pick(Columns(self._structure, tuple(self._leaves), self._used), numbers)
        self._free.extend(numbers)
        return taken

    def put_row(self, element: Any) -> int:
        """The number of an element."""
        rows = self.to_rows()
        if self._free:
            number = self._free.pop()
            rows[number] = element
            return number
        rows.append(element)
        return len(rows) - 1

    def take_row(self, number: int) -> Any:
        """One element, for good."""
        rows = self.to_rows()
        element, rows[number] = rows[number], None
        self._free.append(number)
        return element

    def look(self, numbers: Sequence[int]) -> Columns | list[Any]:
        """The elements, which stay."""
        if self._rows is not None or not numbers:
            return [self.to_rows()[number] for number in numbers]
        return pick(Columns(self._structure, tuple(self._leaves), self._used), numbers)

    def to_rows(self) -> list[Any]:
        """All elements by their numbers, from now on as a list."""
        if self._rows is None:
            stored = Columns(self._structure, tuple(leaf[: self._used] for leaf in self._leaves), self._used)
            self._rows = list(stored.elements()) if self._used else []
            self._leaves = []
        return self._rows


def _written(stored: Any, numbers: Sequence[int], leaf: Any, used: int) -> Any:
    """What is ``stored`` with the rows of ``leaf`` under ``numbers``; an array becomes a list where they do not fit."""
    if isinstance(stored, np.ndarray):
        if isinstance(leaf, np.ndarray) and leaf.dtype == stored.dtype and leaf.shape[1:] == stored.shape[1:]:
            if used > len(stored):
                grown = np.empty((max(used, 2 * len(stored)), *stored.shape[1:]), stored.dtype)
                grown[: len(stored)] = stored
                stored = grown
            stored[slice(numbers.start, numbers.stop) if isinstance(numbers, range) else numbers] = leaf
            return stored
        stored = list(stored)
    stored.extend([None] * (used - len(stored)))
    for number, value in zip(numbers, leaf, strict=True):
        stored[number] = value
    return stored
