"""``Dataset.shuffle``: elements drawn at random from a buffer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, UnaryOperator
from tfsvc.data.ops.cursor import Cursor, Indexed
from tfsvc.data.ops.element_store import ElementStore
from tfsvc.data.ops.ring import Ring
from tfsvc.errors import InvalidArgumentError
from tfsvc.random import Seeds

_FILL: Final = 1 << 20
"""Elements that are asked of the input at once where the buffer holds them all."""
_LISTED: Final = 2048
"""Positions that a saved state lists; of more it says how they came about, and they are drawn once more."""


@dataclass(frozen=True, eq=False)
class Shuffle(UnaryOperator):
    """Each element is drawn from the next ``buffer_size`` of the input.

    The order is TensorFlow's for ``seeds`` and, with ``reshuffle_each_iteration``, for the pass; where they are
    ``None`` it is a pure function of the context's seed and path.
    """

    buffer_size: int
    seeds: Seeds | None
    reshuffle_each_iteration: bool
    name = "shuffle"
    shards_by_file = True

    def __post_init__(self) -> None:
        if self.buffer_size <= 0 and self.buffer_size != UNKNOWN:
            raise InvalidArgumentError(message="buffer_size must be greater than zero or UNKNOWN_CARDINALITY")

    def iterator(self, context: Context) -> OperatorIterator:
        ring = Ring(self.buffer_size, context.luck(self.seeds, self.reshuffle_each_iteration))
        # A second shuffle below draws other luck.
        below = context.within(0)
        if isinstance(self.input, Indexed):
            return _PositionsIterator(ring, self.input, below)
        return _ElementsIterator(ring, self.input.iterator(below))


class _PositionsIterator(OperatorIterator):
    """Shuffles the positions of a source and reads no element before its turn."""

    def __init__(self, ring: Ring, source: Indexed, context: Context) -> None:
        self._ring = ring
        self._source = source
        self._cursor = Cursor(source.cardinality(), context.feed)
        self._in_order = context.feed is None
        self._drawn: list[int] = []
        self._ended = False

    def next(self) -> Any:
        place = self._drawn.pop(0) if self._drawn else self._draw(1)[0]
        return self._source.at([place]).element(0)

    def block(self, limit: int) -> Columns | None:
        if self._drawn:
            return None
        self._drawn = self._draw(limit)
        try:
            columns = self._source.at(self._drawn)
        except Exception:
            if len(self._drawn) > 1:
                # One of them cannot be read, the others can.
                return None
            self._drawn = []
            raise
        self._drawn = []
        return columns

    def _draw(self, limit: int) -> list[int]:
        while not self._ended:
            room = self._ring.room(_FILL)
            try:
                positions = range(*self._cursor.span(room or limit))
            except StopIteration:
                self._ended = True
                break
            if not room:
                return self._ring.exchange(positions)
            self._ring.add(positions)
        drawn = self._ring.draw(limit)
        if not drawn:
            raise StopIteration
        return drawn

    def save(self) -> Any:
        listed = None
        if self._ring.count <= _LISTED or not self._in_order:
            listed = np.array(self._ring.numbers(), np.int64)
        return listed, list(self._drawn), self._ring.luck, self._ended, self._cursor.save()

    def load(self, state: Any) -> None:
        listed, drawn, luck, self._ended, cursor = state
        self._drawn = list(drawn)
        self._cursor.load(cursor)
        if listed is None:
            self._ring.replay(cursor, luck)
        else:
            self._ring.restore(listed.tolist(), luck)


class _ElementsIterator(OperatorIterator):
    """Holds its buffer as columns for as long as it is asked for blocks and the input has some, then as rows.

    Either way the same draws give the same order.
    """

    def __init__(self, ring: Ring, input: OperatorIterator) -> None:
        self._ring = ring
        self._input = input
        self._store = ElementStore()
        self._pending: list[Any] = []
        self._ended = False

    def next(self) -> Any:
        ring, store = self._ring, self._store
        while not self._ended:
            full = not ring.room(1)
            try:
                number = store.put_row(self._pending.pop(0) if self._pending else self._input.next())
            except StopIteration:
                self._ended = True
                break
            if full:
                return store.take_row(ring.exchange((number,))[0])
            ring.add((number,))
        drawn = ring.draw(1)
        if not drawn:
            raise StopIteration
        return store.take_row(drawn[0])

    def block(self, limit: int) -> Columns | None:
        ring, store = self._ring, self._store
        if store.holds_rows:
            return None
        while not self._ended:
            room = ring.room(_FILL)
            try:
                piece = self._input.block(room or limit)
            except StopIteration:
                self._ended = True
                break
            if piece is None:
                return None
            if not store.fits(piece):
                self._pending = list(piece.elements())
                store.to_rows()
                return None
            numbers = store.put(piece)
            if not room:
                return store.take(ring.exchange(numbers))
            ring.add(numbers)
        drawn = ring.draw(limit)
        if not drawn:
            raise StopIteration
        return store.take(drawn)

    def save(self) -> Any:
        held = self._store.look(self._ring.numbers())
        return held, list(self._pending), self._ring.luck, self._ended, self._input.save()

    def load(self, state: Any) -> None:
        held, pending, luck, self._ended, input = state
        self._pending = list(pending)
        if isinstance(held, Columns):
            self._ring.restore(self._store.put(held), luck)
        else:
            self._ring.restore([self._store.put_row(row) for row in held], luck)
        self._input.load(input)
