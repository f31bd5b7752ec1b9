"""``Dataset.shuffle``: elements drawn at random from a buffer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, UnaryOperator
from tfsvc.data.ops.column_buffer import ColumnBuffer
from tfsvc.errors import InvalidArgumentError
from tfsvc.protocol.splits import Starved


@dataclass(frozen=True, eq=False)
class Shuffle(UnaryOperator):
    """Each element is drawn from the next ``buffer_size`` of the input.

    The order is a pure function of the seed (the context's, when ``seed`` is ``None``) and, with
    ``reshuffle_each_iteration``, of the epoch and repetition.
    """

    buffer_size: int
    seed: int | None
    reshuffle_each_iteration: bool
    name = "shuffle"

    def __post_init__(self) -> None:
        if self.buffer_size <= 0 and self.buffer_size != UNKNOWN:
            raise InvalidArgumentError(message="buffer_size must be greater than zero or UNKNOWN_CARDINALITY")

    def iterator(self, context: Context) -> OperatorIterator:
        return _ShuffleIterator(self, context)


class _ShuffleIterator(OperatorIterator):
    """Holds its buffer as columns for as long as it is asked for blocks and the input has some, then as rows.

    Either way the same draws give the same order.
    """

    def __init__(self, shuffle: Shuffle, context: Context) -> None:
        self._size = shuffle.buffer_size
        self._random = context.generator(shuffle.seed, shuffle.reshuffle_each_iteration)
        # A second shuffle below draws other luck.
        self._input = shuffle.input.iterator(context.within(0))
        self._buffer: list[Any] = []
        self._columns = ColumnBuffer()
        self._input_ended = False

    def next(self) -> Any:
        self._to_rows()
        buffer = self._buffer
        while not self._input_ended and len(buffer) != self._size:
            try:
                buffer.append(self._input.next())
            except StopIteration:
                self._input_ended = True
        if not buffer:
            raise StopIteration
        drawn = int(self._random.integers(len(buffer)))
        buffer[drawn], buffer[-1] = buffer[-1], buffer[drawn]
        return buffer.pop()

    def block(self, limit: int) -> Columns | None:
        if self._buffer:
            return None
        while not self._input_ended:
            room = self._size - self._columns.count
            try:
                piece = self._input.block(room if room > 0 else limit)
            except StopIteration:
                self._input_ended = True
                break
            except Starved:
                if room > 0:
                    raise
                return self._columns.remove([int(self._random.integers(self._size))])
            if piece is None:
                return None
            if not self._columns.fits(piece):
                self._to_rows()
                self._buffer.extend(piece.elements())
                return None
            if not room:
                draws = self._random.integers(self._size, size=piece.count)
                return self._columns.replace(draws.tolist(), piece)
            self._columns.add(piece)
        count = self._columns.count
        if not count:
            raise StopIteration
        bounds = np.arange(count, max(0, count - limit), -1)
        return self._columns.remove(self._random.integers(bounds).tolist())

    def _to_rows(self) -> None:
        if self._columns.count:
            self._buffer.extend(self._columns.all().elements())
            self._columns = ColumnBuffer()

    def save(self) -> Any:
        columns = self._columns.all() if self._columns.count else None
        return list(self._buffer), columns, self._random.bit_generator.state, self._input_ended, self._input.save()

    def load(self, state: Any) -> None:
        buffer, columns, self._random.bit_generator.state, self._input_ended, input = state
        self._buffer = list(buffer)
        if columns is not None:
            self._columns.add(columns)
        self._input.load(input)
