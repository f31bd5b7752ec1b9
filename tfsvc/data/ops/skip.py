"""``Dataset.skip``: all but the first elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc.columns import Columns
from tfsvc.data.operator import Context, OperatorIterator, UnaryOperator


@dataclass(frozen=True, eq=False)
class Skip(UnaryOperator):
    """The elements behind the first ``count``; none where ``count`` is negative."""

    count: int
    name = "skip"
    shards_by_file = True

    def cardinality(self) -> int:
        count = self.input.cardinality()
        if count < 0:
            return count
        return 0 if self.count < 0 else max(0, count - self.count)

    def iterator(self, context: Context) -> OperatorIterator:
        return _SkipIterator(self.count, self.input.iterator(context))


class _SkipIterator(OperatorIterator):
    def __init__(self, count: int, input: OperatorIterator) -> None:
        self._left = count
        self._input = input

    def next(self) -> Any:
        self._skip()
        return self._input.next()

    def block(self, limit: int) -> Columns | None:
        self._skip()
        return self._input.block(limit)

    def skip(self, limit: int) -> int:
        self._skip()
        return self._input.skip(limit)

    def _skip(self) -> None:
        if self._left < 0:
            raise StopIteration
        while self._left:
            self._left -= self._input.skip(self._left)

    def save(self) -> Any:
        return self._left, self._input.save()

    def load(self, state: Any) -> None:
        self._left, input = state
        self._input.load(input)
