"""``Dataset.shuffle``: elements drawn at random from a buffer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, UnaryOperator
from tfsvc.errors import InvalidArgumentError


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
    def __init__(self, shuffle: Shuffle, context: Context) -> None:
        self._size = shuffle.buffer_size
        self._random = context.generator(shuffle.seed, shuffle.reshuffle_each_iteration)
        # A second shuffle below draws other luck.
        self._input = shuffle.input.iterator(context.within(0))
        self._buffer: list[Any] = []
        self._input_ended = False

    def next(self) -> Any:
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

    def save(self) -> Any:
        return list(self._buffer), self._random.bit_generator.state, self._input_ended, self._input.save()

    def load(self, state: Any) -> None:
        buffer, self._random.bit_generator.state, self._input_ended, input = state
        self._buffer = list(buffer)
        self._input.load(input)
