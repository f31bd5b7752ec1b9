"""Costs: what a run takes time for, and what it is paid for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tfsvc.protocol.ids import MILLISECOND, SECOND, Instant
from tfsvc_sim.research.draws import Draws
from tfsvc_sim.research.laws import Fixed, Law

HOUR_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Straggling:
    """Bad times of workers: in a share of all periods, a worker is ``factor`` times slower."""

    share: float
    factor: float = 8.0
    period_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Costs:
    """A model of a cluster and its trainers. Times are milliseconds, rates bytes a second; 0 means no limit.

    Attributes:
      operators: what each operator of the pipeline takes for an element, one after the other.
      open_ms: what it takes to open a split: the storage's latency.
      storage_bytes_per_s: what the storage gives to all workers together.
      worker: a factor for each worker: how much slower than usual it is, always.
      straggling: when workers are slower still.
      slots: how many pipelines a worker runs at once.
      link_bytes_per_s: what the network card of a trainer takes in.
      step_ms: what a trainer's step takes, once it has its batch.
      batch: how many elements a step takes.
      start_ms: how long a worker takes to start that was asked for.
      worker_dollars: for a worker and an hour.
      trainer_dollars: for a trainer and an hour.
    """

    operators: tuple[Law, ...] = (Fixed(1.0),)
    open_ms: Law = Fixed(0.0)
    storage_bytes_per_s: float = 0.0
    worker: Law = Fixed(1.0)
    straggling: Straggling | None = None
    slots: int = 1
    link_bytes_per_s: float = 0.0
    step_ms: Law = Fixed(10.0)
    batch: int = 32
    start_ms: Law = Fixed(0.0)
    worker_dollars: float = 0.20
    trainer_dollars: float = 4.00

    @property
    def element_ms(self) -> float:
        """What a usual worker takes for an element on the average."""
        return sum(law.mean for law in self.operators)

    @property
    def worker_rate(self) -> float:
        """How many elements a second a usual worker makes on the average, with all its slots."""
        return 1000.0 * self.slots / self.element_ms

    @property
    def demand(self) -> float:
        """How many elements a second a trainer takes that never waits."""
        return 1000.0 * self.batch / self.step_ms.mean


class Prices:
    """The costs of one run: every draw by the name of what it is for."""

    def __init__(self, costs: Costs, seed: int) -> None:
        self._costs = costs
        self._seed = seed
        self._operators = [(law, Draws(seed, f"operator/{i}")) for i, law in enumerate(costs.operators)]
        fixed = all(isinstance(law, Fixed) for law in costs.operators)
        self.fixed_ns = round(costs.element_ms * MILLISECOND) if fixed else None
        """What every element takes, where all take the same."""
        self._open = Draws(seed, "open")
        self._step: dict[str, Draws] = {}
        self._straggling: dict[str, Draws] = {}
        self._factors: dict[str, float] = {}

    def element_ns(self, index: int) -> int:
        """What a usual worker takes for an element."""
        return round(MILLISECOND * sum(law.at(draws.unit(index)) for law, draws in self._operators))

    def open_ns(self, first: int) -> int:
        """What it takes to open the split that begins with element ``first``."""
        return round(MILLISECOND * self._costs.open_ms.at(self._open.unit(first)))

    def step_ns(self, trainer: str, step: int) -> int:
        """What a trainer's step takes."""
        draws = self._step.get(trainer)
        if draws is None:
            draws = self._step[trainer] = Draws(self._seed, f"step/{trainer}")
        return round(MILLISECOND * self._costs.step_ms.at(draws.unit(step)))

    def factor(self, worker: str, now: Instant) -> float:
        """How much slower than usual a worker is at a moment."""
        factor = self._factors.get(worker)
        if factor is None:
            factor = self._costs.worker.at(Draws(self._seed, f"worker/{worker}").unit(0))
            self._factors[worker] = factor
            self._straggling[worker] = Draws(self._seed, f"straggling/{worker}")
        bad = self._costs.straggling
        if bad is not None:
            period = int(now / SECOND / bad.period_s)
            if self._straggling[worker].unit(period) < bad.share:
                factor *= bad.factor
        return factor

    def start_ns(self, worker: str) -> int:
        """How long a worker takes to start."""
        return round(MILLISECOND * self._costs.start_ms.at(Draws(self._seed, f"start/{worker}").unit(0)))


class Pipe:
    """Something that all share and that takes one after the other: a storage, a network card."""

    def __init__(self, bytes_per_s: float) -> None:
        self._bytes_per_s = bytes_per_s
        self._free_at: Instant = 0

    def passes(self, now: Instant, size: int) -> Instant:
        """When the last of ``size`` bytes is through that are sent now."""
        if not self._bytes_per_s:
            return now
        self._free_at = max(now, self._free_at) + round(size * SECOND / self._bytes_per_s)
        return self._free_at
