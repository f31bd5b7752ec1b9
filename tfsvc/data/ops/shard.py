"""``Dataset.shard``: every n-th element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tfsvc.columns import Columns
from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, UnaryOperator
from tfsvc.data.stacking import pick
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError
from tfsvc.protocol.splits import Starved

SHARD_HINT: Final = -1
"""The number of shards that ``ShardingPolicy.HINT`` fills in, as ``tf.data.experimental.SHARD_HINT``."""


@dataclass(frozen=True, eq=False)
class Shard(UnaryOperator):
    """The elements whose number in the input leaves the rest ``index`` when divided by ``num_shards``.

    Attributes:
      for_worker: whether static sharding put it here. Then there must be an element for every worker, and an element
        that fails is told by the one worker whose it is.
    """

    num_shards: int
    index: int
    for_worker: bool = False
    name = "shard"
    shards_by_file = True

    def __post_init__(self) -> None:
        if self.num_shards == SHARD_HINT:
            return
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
        if count < 0:
            return count
        return UNKNOWN if self.num_shards < 0 else len(range(self.index, count, self.num_shards))

    def iterator(self, context: Context) -> OperatorIterator:
        if self.num_shards == SHARD_HINT:
            raise FailedPreconditionError(
                message="`tf.data.Dataset.shard(SHARD_HINT, ...)` has no number of shards of its own: distribute the "
                "dataset with `tf.data.experimental.service.ShardingPolicy.HINT`, or give `shard` a number."
            )
        return _ShardIterator(self, context)


class _ShardIterator(OperatorIterator):
    def __init__(self, shard: Shard, context: Context) -> None:
        self._num_shards = shard.num_shards
        self._index = shard.index
        self._for_worker = shard.for_worker
        self._input = shard.input.iterator(context)
        self._number = 0
        self._first: tuple[Any] | None = None
        """This shard's first element, until it is known that the others have one."""

    def next(self) -> Any:
        while True:
            if self._first is not None:
                self._look_further()
                (element,), self._first = self._first, None
                return element
            if not self._for_worker:
                self._pass_over(1)
            try:
                element = self._input.next()
            except (StopIteration, Starved):
                raise
            except Exception:
                if self._is_told():
                    raise
                continue
            self._number += 1
            if (self._number - 1) % self._num_shards == self._index:
                if not self._for_worker or self._number >= self._num_shards:
                    return element
                self._first = (element,)

    def block(self, limit: int) -> Columns | None:
        if self._for_worker and (self._first is not None or self._number < self._num_shards):
            return None
        while True:
            if not self._for_worker:
                self._pass_over(limit)
            try:
                columns = self._input.block(limit)
            except (StopIteration, Starved):
                raise
            except Exception:
                if self._is_told():
                    raise
                continue
            if columns is None:
                return None
            own = range((self._index - self._number) % self._num_shards, columns.count, self._num_shards)
            self._number += columns.count
            if own:
                return pick(columns, own)

    def _pass_over(self, least: int) -> None:
        """Stands before an element of this shard, if as many as ``least`` of others lie before it."""
        while (others := (self._index - self._number) % self._num_shards) >= least:
            self._number += self._input.skip(others)

    def _look_further(self) -> None:
        """Reads until every shard has had an element, as TensorFlow does behind the first.

        Raises:
          InvalidArgumentError: if there are fewer.
        """
        while self._number < self._num_shards:
            try:
                self._input.next()
            except StopIteration:
                self._first = None
                raise InvalidArgumentError(
                    message=f"Could not apply FILE based sharding: the dataset only has {self._number} file(s) or "
                    f"elements to divide, which is not enough for the required {self._num_shards} shards/workers. Use "
                    "ShardingPolicy.DYNAMIC, fewer workers, or more and smaller files."
                ) from None
            except Starved:
                raise
            except Exception:
                # It is told by the worker whose it is.
                self._number += 1
            else:
                self._number += 1

    def _is_told(self) -> bool:
        """Whether an element that failed is to be told here; among workers it takes a number as others do."""
        if not self._for_worker:
            return True
        self._number += 1
        return (self._number - 1) % self._num_shards == self._index

    def save(self) -> Any:
        return self._number, self._first, self._input.save()

    def load(self, state: Any) -> None:
        self._number, self._first, input = state
        self._input.load(input)
