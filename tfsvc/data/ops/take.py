"""``Dataset.take``: the first elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc.columns import Columns
from tfsvc.data.operator import INFINITE, UNKNOWN, Context, OperatorIterator, UnaryOperator


@dataclass(frozen=True, eq=False)
class Take(UnaryOperator):
    """At most ``count`` elements; all of them where ``count`` is negative."""

    count: int
    name = "take"
    shards_by_file = True

    def cardinality(self) -> int:
        count = self.input.cardinality()
        if count == UNKNOWN or self.count < 0:
            return count
        return self.count if count == INFINITE else min(count, self.count)

    def iterator(self, context: Context) -> OperatorIterator:
        input = self.input.iterator(context)
        return input if self.count < 0 else _TakeIterator(self.count, input)


class _TakeIterator(OperatorIterator):
    def __init__(self, count: int, input: OperatorIterator) -> None:
        self._left = count
        self._input = input

    def next(self) -> Any:
        if not self._left:
            raise StopIteration
        element = self._input.next()
        self._left -= 1
        return element

    def block(self, limit: int) -> Columns | None:
        if not self._left:
            raise StopIteration
        columns = self._input.block(min(limit, self._left))
        if columns is not None:
            self._left -= columns.count
        return columns

    def skip(self, limit: int) -> int:
        if not self._left:
            raise StopIteration
        skipped = self._input.skip(min(limit, self._left))
        self._left -= skipped
        return skipped

    def save(self) -> Any:
        return self._left, self._input.save()

    def load(self, state: Any) -> None:
        self._left, input = state
        self._input.load(input)
