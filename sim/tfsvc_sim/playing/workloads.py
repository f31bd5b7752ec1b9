"""Workloads: small datasets, each with what it must give, said independently in plain Python."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from tfsvc.data import Dataset
from tfsvc.data.experimental import seeded
from tfsvc.data.ops.files import Opened, Reader
from tfsvc.data.ops.flat_map import FlatMap
from tfsvc.data.ops.shard import SHARD_HINT
from tfsvc.data.ops.text import TextLines
from tfsvc.execution.program import define
from tfsvc.protocol.messages import DatasetDef, ShardingPolicy

LINES: Final = 3
"""Values in each file of workload ``files``."""
FAILING: Final = 2
"""The element that workload ``fails`` cannot make."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A family of datasets.

    Attributes:
      build: the dataset for a size.
      values: all that its elements hold, in order, for a size.
      ascending: whether a part of it, made in order, has ascending values.
      errors: how many elements fail.
      per_element: how many values an element holds; the last may hold fewer.
      policies: the sharding policies that give each of its elements once.
      per_file: how many values a file holds, where it is read from files.
    """

    build: Callable[[int], Dataset]
    values: Callable[[int], Iterable[int]]
    ascending: bool = True
    errors: int = 0
    per_element: int = 1
    policies: tuple[ShardingPolicy, ...] = (ShardingPolicy.DYNAMIC, ShardingPolicy.DATA)
    per_file: int = 0


@dataclass(frozen=True, slots=True)
class Workload:
    """One dataset.

    Attributes:
      kind: the name of one of ``KINDS``, such as ``"range"``, ``"map"``, ``"shuffle_batch"`` or ``"files"``.
      size: of what it is made of; for most kinds the number of their values.
    """

    kind: str
    size: int

    @property
    def name(self) -> str:
        """The kind and the size."""
        return f"{self.kind}-{self.size}"

    def definition(self) -> DatasetDef:
        """What the dispatcher is told of it."""
        return _definition(self.kind, self.size)

    def values(self) -> tuple[int, ...]:
        """All that its elements hold, in order, said without the library's operators."""
        return _values(self.kind, self.size)

    @property
    def ascending(self) -> bool:
        """Whether a part of it, made in order, has ascending values."""
        return KINDS[self.kind].ascending

    @property
    def errors(self) -> int:
        """How many of its elements fail."""
        return KINDS[self.kind].errors if self.size > FAILING else 0

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return -(-len(self.values()) // KINDS[self.kind].per_element) + self.errors

    def shards(self, policy: ShardingPolicy, workers: int) -> tuple[tuple[int, ...], ...] | None:
        """The values of each of ``workers`` under a static ``policy``; ``None`` where no simple rule tells."""
        kind, values, size = KINDS[self.kind], self.values(), self._values_per_part(policy)
        if kind.errors or not kind.ascending:
            return None
        parts = [values[i : i + size] for i in range(0, len(values), size)]
        return tuple(tuple(v for part in parts[i::workers] for v in part) for i in range(workers))

    def parts(self, policy: ShardingPolicy) -> int:
        """How many parts the static sharding ``policy`` has to divide."""
        return -(-(len(self.values()) + self.errors) // self._values_per_part(policy))

    def _values_per_part(self, policy: ShardingPolicy) -> int:
        kind = KINDS[self.kind]
        by_file = kind.per_file and policy in (ShardingPolicy.FILE, ShardingPolicy.FILE_OR_DATA)
        return kind.per_file if by_file else kind.per_element


@lru_cache(maxsize=256)
def _values(kind: str, size: int) -> tuple[int, ...]:
    return tuple(KINDS[kind].values(size))


@lru_cache(maxsize=256)
def _definition(kind: str, size: int) -> DatasetDef:
    return define(KINDS[kind].build(size).operator)


def _thrice(x: Any) -> Any:
    return x * 3 + 1


def _not_third(x: Any) -> Any:
    return x % 3 != 0


def kinds_for(policy: ShardingPolicy) -> list[str]:
    """The kinds that can be read so; without sharding, all that need no hint."""
    divided = ShardingPolicy.DYNAMIC if policy is ShardingPolicy.OFF else policy
    return [name for name, kind in KINDS.items() if divided in kind.policies]


def _spread(x: Any) -> Dataset:
    return Dataset.range(int(x) * 10, int(x) * 10 + int(x) % 3)


def _three(x: Any) -> Dataset:
    return Dataset.range(int(x) * 10, int(x) * 10 + 3)


@dataclass(frozen=True, eq=False)
class _Lines(TextLines):
    """A file of numbers that is made up when it is opened."""

    def open(self, offset: int) -> Opened:
        first = int(self.filename) * 10
        file = io.BytesIO(b"".join(b"%d\n" % (first + i) for i in range(LINES)))
        return Opened(file, file.seek(offset))


def _files(size: int) -> Dataset:
    names = Dataset.range(size).map(str)
    return Dataset(FlatMap(names.operator, Reader(_Lines, ()))).map(int)


def _with_luck(x: Any, rng: Any) -> Any:
    # By its name a function is shipped in the same bytes from any folder and in any Python; a lambda is not.
    return x * 1000 + rng.integers(1000)


def _drawn(n: int) -> Dataset:
    return Dataset.range(n).shuffle(4).map(seeded(_with_luck, 7))


def _fails_at_two(x: Any) -> Any:
    if x == FAILING:
        raise ValueError(f"element {FAILING} cannot be made")
    return x


KINDS: Final[dict[str, Kind]] = {
    "range": Kind(Dataset.range, range),
    "map": Kind(lambda n: Dataset.range(n).map(_thrice), lambda n: range(1, 3 * n + 1, 3)),
    "filter": Kind(lambda n: Dataset.range(n).filter(_not_third), lambda n: (x for x in range(n) if x % 3)),
    "flat_map": Kind(
        lambda n: Dataset.range(n).flat_map(_spread),
        lambda n: (x * 10 + i for x in range(n) for i in range(x % 3)),
    ),
    "batch": Kind(lambda n: Dataset.range(n).batch(4), range, per_element=4),
    "shuffle": Kind(lambda n: Dataset.range(n).shuffle(8), range, ascending=False),
    "shuffle_batch": Kind(
        lambda n: Dataset.range(n).shuffle(8).batch(3),
        range,
        ascending=False,
        per_element=3,
    ),
    "interleave": Kind(
        lambda n: Dataset.range(n).interleave(_three, cycle_length=3, block_length=2),
        lambda n: (x * 10 + i for x in range(n) for i in range(3)),
        ascending=False,
    ),
    "concatenate": Kind(
        lambda n: Dataset.range(n).concatenate(Dataset.range(1000, 1000 + n // 2)),
        lambda n: (*range(n), *range(1000, 1000 + n // 2)),
    ),
    "repeat": Kind(lambda n: Dataset.range(n).repeat(2), lambda n: (*range(n), *range(n)), ascending=False),
    "seeded": Kind(_drawn, lambda n: sorted(int(x) for x in _drawn(n)), ascending=False),
    "fails": Kind(
        lambda n: Dataset.range(n).map(_fails_at_two), lambda n: (x for x in range(n) if x != FAILING), errors=1
    ),
    "files": Kind(
        _files,
        lambda n: (x * 10 + i for x in range(n) for i in range(LINES)),
        policies=(ShardingPolicy.DYNAMIC, ShardingPolicy.FILE, ShardingPolicy.DATA, ShardingPolicy.FILE_OR_DATA),
        per_file=LINES,
    ),
    "hinted": Kind(
        lambda n: Dataset.range(n).shard(SHARD_HINT, 0).map(_thrice),
        lambda n: range(1, 3 * n + 1, 3),
        policies=(ShardingPolicy.HINT,),
    ),
}
