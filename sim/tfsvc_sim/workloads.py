"""Workloads: small datasets, each with what it must give, said independently in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from tfsvc.data import Dataset
from tfsvc.data.experimental import seeded
from tfsvc.execution.program import define
from tfsvc.protocol.messages import DatasetDef

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
    """

    build: Callable[[int], Dataset]
    values: Callable[[int], Iterable[int]]
    ascending: bool = True
    errors: int = 0


@dataclass(frozen=True, slots=True)
class Workload:
    """One dataset: a kind by name, and its size."""

    kind: str
    size: int

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.size}"

    def definition(self) -> DatasetDef:
        return _definition(self.kind, self.size)

    def values(self) -> tuple[int, ...]:
        return tuple(KINDS[self.kind].values(self.size))

    @property
    def ascending(self) -> bool:
        return KINDS[self.kind].ascending

    @property
    def errors(self) -> int:
        return KINDS[self.kind].errors if self.size > FAILING else 0


@lru_cache(maxsize=256)
def _definition(kind: str, size: int) -> DatasetDef:
    return define(KINDS[kind].build(size).operator)


def _thrice(x: Any) -> Any:
    return x * 3 + 1


def _not_third(x: Any) -> Any:
    return x % 3 != 0


def _spread(x: Any) -> Dataset:
    return Dataset.range(int(x) * 10, int(x) * 10 + int(x) % 3)


def _three(x: Any) -> Dataset:
    return Dataset.range(int(x) * 10, int(x) * 10 + 3)


def _drawn(n: int) -> Dataset:
    return Dataset.range(n).shuffle(4).map(seeded(lambda x, rng: x * 1000 + rng.integers(1000), 7))


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
    "batch": Kind(lambda n: Dataset.range(n).batch(4), range),
    "shuffle": Kind(lambda n: Dataset.range(n).shuffle(8, seed=7), range, ascending=False),
    "shuffle_batch": Kind(lambda n: Dataset.range(n).shuffle(8).batch(3), range, ascending=False),
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
}
