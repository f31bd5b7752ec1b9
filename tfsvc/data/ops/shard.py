"""``Dataset.shard``: every n-th element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc.columns import Columns
from tfsvc.data.operator import Context, OperatorIterator, UnaryOperator
from tfsvc.data.stacking import pick
from tfsvc.errors import InvalidArgumentError


@dataclass(frozen=True, eq=False)
class Shard(UnaryOperator):
    """The elements whose number in the input leaves the rest ``index`` when divided by ``num_shards``."""

    num_shards: int
    index: int
    name = "shard"

    def __post_init__(self) -> None:
        if self.num_shards <= 0:
            raise InvalidArgumentError(
                message=f"Number of shards must be greater than zero (currently num_shards = {self.num_shards})."
            )
        if not 0 <= self.index < self.num_shards:
            raise InvalidArgumentError(
                message=f"Index must be between 0 and {self.num_shards - 1} (currently index = {self.index})."
            )

    def cardinality(self) -> int:
        count = self.input.cardinality()
        return count if count < 0 else len(range(self.index, count, self.num_shards))

    def iterator(self, context: Context) -> OperatorIterator:
        return _ShardIterator(self, context)


class _ShardIterator(OperatorIterator):
    def __init__(self, shard: Shard, context: Context) -> None:
        self._num_shards = shard.num_shards
        self._index = shard.index
        self._input = shard.input.iterator(context)
        self._number = 0

    def next(self) -> Any:
        while True:
            element = self._input.next()
            self._number += 1
            if (self._number - 1) % self._num_shards == self._index:
                return element

    def block(self, limit: int) -> Columns | None:
        while True:
            columns = self._input.block(limit)
            if columns is None:
                return None
            first = (self._index - self._number) % self._num_shards
            self._number += columns.count
            if first < columns.count:
                return pick(columns, range(first, columns.count, self._num_shards))

    def save(self) -> Any:
        return self._number, self._input.save()

    def load(self, state: Any) -> None:
        self._number, input = state
        self._input.load(input)
