"""``Dataset.repeat``: the input again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc.columns import Columns
from tfsvc.data.operator import INFINITE, Context, OperatorIterator, UnaryOperator


@dataclass(frozen=True, eq=False)
class Repeat(UnaryOperator):
    """``count`` passes over the input; without end where ``count`` is negative."""

    count: int
    name = "repeat"
    shards_by_file = True

    def cardinality(self) -> int:
        count = self.input.cardinality()
        if self.count < 0:
            return INFINITE if count else 0
        if self.count == 0:
            return 0
        return count if count < 0 else count * self.count

    def iterator(self, context: Context) -> OperatorIterator:
        return _RepeatIterator(self, context)


class _RepeatIterator(OperatorIterator):
    """Under splits each repetition has its own, and a pass that got none says nothing about the next."""

    def __init__(self, repeat: Repeat, context: Context) -> None:
        self._repeated = repeat.input
        self._context = context
        self._count = repeat.count
        self._done = 0
        self._empty = True
        self._input = self._start()

    def _start(self) -> OperatorIterator:
        return self._repeated.iterator(self._context.repetition(self._done, self._count))

    def next(self) -> Any:
        while self._done != self._count:
            try:
                element = self._input.next()
            except StopIteration:
                self._end_pass()
            else:
                self._empty = False
                return element
        raise StopIteration

    def block(self, limit: int) -> Columns | None:
        while self._done != self._count:
            try:
                columns = self._input.block(limit)
            except StopIteration:
                self._end_pass()
            else:
                self._empty = self._empty and columns is None
                return columns
        raise StopIteration

    def _end_pass(self) -> None:
        if self._count < 0 and self._empty and not (self._asked_for_splits() or self._repeated.may_be_taken_by_others):
            raise StopIteration
        self._done += 1
        if self._done == self._count:
            return
        for feed in self._context.feeds:
            feed.reset()
        self._empty = True
        self._input = self._start()

    def _asked_for_splits(self) -> bool:
        """Whether this pass was empty for want of splits; one that asked for none will never give anything."""
        return any(feed.at.offset or feed.has_end_of(feed.at.repetition) for feed in self._context.feeds)

    def save(self) -> Any:
        return self._done, self._empty, self._input.save()

    def load(self, state: Any) -> None:
        self._done, self._empty, input = state
        self._input = self._start()
        self._input.load(input)
