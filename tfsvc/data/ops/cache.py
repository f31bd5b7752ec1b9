"""``Dataset.cache()``: elements that are made once and kept in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc.columns import Columns
from tfsvc.data.operator import Context, OperatorIterator, UnaryOperator
from tfsvc.data.stacking import columns_of, count_alike


@dataclass(frozen=True, eq=False)
class Cache(UnaryOperator):
    """The input's elements; once a pass has come to its end, later ones repeat what it gave.

    Under splits a worker repeats the splits that it saw first, as in TensorFlow.
    """

    name = "cache"
    shards_by_file = True

    def iterator(self, context: Context) -> OperatorIterator:
        return _CacheIterator(self, context)


class _CacheIterator(OperatorIterator):
    """A pass that found a full cache reads it; any other fills one of its own and hands it over at the end."""

    def __init__(self, cache: Cache, context: Context) -> None:
        self._cache = cache
        self._memory = context.memory
        self._input = cache.input.iterator(context)
        self._rows: list[Any] = []
        self._place = 0
        self._full = False

    def next(self) -> Any:
        if not self._place and not self._full and self._cache in self._memory:
            self._rows, self._full = self._memory[self._cache], True
        if not self._full:
            try:
                self._rows.append(self._input.next())
            except StopIteration:
                self._full = True
                self._memory[self._cache] = self._rows
        if self._place >= len(self._rows):
            raise StopIteration
        self._place += 1
        return self._rows[self._place - 1]

    def block(self, limit: int) -> Columns | None:
        if not self._full or self._place >= len(self._rows):
            return None
        rows = self._rows[self._place : self._place + limit]
        count = count_alike(rows)
        self._place += count
        return columns_of(rows[:count])

    def save(self) -> Any:
        return tuple(self._rows), self._place, self._full, self._input.save()

    def load(self, state: Any) -> None:
        rows, self._place, self._full, input = state
        self._rows = list(rows)
        if self._full:
            self._memory[self._cache] = self._rows
        self._input.load(input)
