"""Elements as columns, drawn from by position: the buffer of a shuffle.

A draw swaps the drawn element with the last one and takes that away, as the same draw does with a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.stacking import is_regular, join


class ColumnBuffer:
    """Regular columns of one structure, shape and dtype; ``_order`` is the row in ``_store`` at each position."""

    def __init__(self) -> None:
        self._pieces: list[Columns] = []
        self._structure: Any = None
        self._store: list[Any] = []
        self._order: list[int] = []

    @property
    def count(self) -> int:
        """How many elements there are."""
        return len(self._order) + sum(piece.count for piece in self._pieces)

    def fits(self, piece: Columns) -> bool:
        """Whether the elements of ``piece`` can be held beside those that are."""
        if not is_regular(piece):
            return False
        if not self.count:
            return True
        held, structure = (
            (self._pieces[0].leaves, self._pieces[0].structure) if self._pieces else (self._store, self._structure)
        )
        return bool(structure == piece.structure) and all(
            one.dtype == two.dtype and one.shape[1:] == two.shape[1:]  # type: ignore[union-attr]
            for one, two in zip(held, piece.leaves, strict=True)
        )

    def add(self, piece: Columns) -> None:
        """Puts elements behind the others."""
        if self._order:
            self._pieces, self._store, self._order = [self.all()], [], []
        self._pieces.append(piece)

    def all(self) -> Columns:
        """All elements in order, as a copy unless they are one piece."""
        if self._pieces:
            return join(self._pieces)
        leaves = tuple(leaf[self._order] for leaf in self._store)
        return Columns(self._structure, leaves, len(self._order))

    def replace(self, draws: Sequence[int], piece: Columns) -> Columns:
        """Draws as many elements as ``piece`` has; behind each draw the next element of it takes the last place."""
        order, slots, sources = self._settled(), [], []
        writer: dict[int, int] = {}
        for number, drawn in enumerate(draws):
            order[drawn], order[-1] = order[-1], order[drawn]
            slot = order[-1]
            slots.append(slot)
            # The row of this block that lies in the slot by now, or -1 for one from before.
            sources.append(writer.get(slot, -1))
            writer[slot] = number
        old, rows = np.array(slots), np.array(sources)
        fresh = rows >= 0
        arriving: tuple[Any, ...] = piece.leaves
        leaves = []
        for stored, new in zip(self._store, arriving, strict=True):
            leaf = stored[old]
            leaf[fresh] = new[rows[fresh]]
            stored[list(writer)] = new[list(writer.values())]
            leaves.append(leaf)
        return Columns(self._structure, tuple(leaves), piece.count)

    def remove(self, draws: Sequence[int]) -> Columns:
        """Draws elements and leaves their places empty."""
        order, slots = self._settled(), []
        for drawn in draws:
            order[drawn], order[-1] = order[-1], order[drawn]
            slots.append(order.pop())
        return Columns(self._structure, tuple(leaf[slots] for leaf in self._store), len(slots))

    def _settled(self) -> list[int]:
        """The order, when all pieces have become one store that may be written to."""
        if self._pieces:
            joined = self.all()
            self._structure = joined.structure
            # One piece alone may be a view of the source's data.
            copy = len(self._pieces) == 1
            self._store = [np.array(leaf) if copy else leaf for leaf in joined.leaves]
            self._order = list(range(joined.count))
            self._pieces = []
        return self._order
