"""Calibration: models from a real run, the same run in simulation, and how far apart the two are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tfsvc.protocol.ids import MILLISECOND
from tfsvc_sim.kernel.network import Latency
from tfsvc_sim.research.costs import Costs
from tfsvc_sim.research.experiment import Experiment
from tfsvc_sim.research.laws import Empirical
from tfsvc_sim.research.outcome import Outcome, quantile
from tfsvc_sim.research.source import Source

WITHIN: Final = 0.1
"""Shares of samples that are left out at either end where a range is fitted."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A real run.

    Attributes:
      workers, trainers, elements: how many there were.
      batch: elements of a step.
      slots: how many pipelines a worker ran at once.
      element_ms: what a worker took for single elements.
      call_ms: what small remote calls took, there and back.
      step_ms: what steps took once they had their batch.
      epoch_s: from the first wish to the end.
      waited_s: how long steps were waited for in all.
    """

    workers: int
    trainers: int
    elements: int
    batch: int
    slots: int
    element_ms: Sequence[float]
    call_ms: Sequence[float]
    step_ms: Sequence[float]
    epoch_s: float
    waited_s: float


def fit(measured: Measured, element_bytes: int = 64) -> Experiment:
    """The same run as an experiment: every time is drawn from those that were measured.

    Raises:
      ValueError: if there are no samples of something.
    """
    costs = Costs(
        operators=(Empirical(measured.element_ms),),
        step_ms=Empirical(measured.step_ms),
        slots=measured.slots,
        batch=measured.batch,
    )
    calls = sorted(measured.call_ms)
    if not calls:
        raise ValueError("no calls were measured; ask the dispatcher something some hundred times")
    low, high = quantile(calls, WITHIN), quantile(calls, 1 - WITHIN)
    latency = Latency(round(low / 2 * MILLISECOND), max(1, round(high / 2 * MILLISECOND)), 1)
    return Experiment(
        Source.even(measured.elements, 1, element_bytes),
        costs,
        workers=measured.workers,
        trainers=measured.trainers,
        latency=replace(latency, ns_max=max(latency.ns_min, latency.ns_max)),
    )


@dataclass(frozen=True, slots=True)
class Error:
    """One figure of both runs.

    Attributes:
      relative: the simulated one over the measured one, less one.
    """

    figure: str
    measured: float
    simulated: float

    @property
    def relative(self) -> float:
        return self.simulated / self.measured - 1 if self.measured else float("inf")

    def __str__(self) -> str:
        return (
            f"{self.figure:<22} measured {self.measured:9.3f}  simulated {self.simulated:9.3f}  {self.relative:+7.1%}"
        )


def errors(measured: Measured, simulated: Outcome) -> list[Error]:
    """How well a simulated run tells what a real one does."""
    waited_s = simulated.stall * measured.trainers * simulated.epoch_s
    return [
        Error("epoch, s", measured.epoch_s, simulated.epoch_s),
        Error("elements a second", measured.elements / measured.epoch_s, simulated.goodput),
        Error("waited for steps, s", measured.waited_s, waited_s),
    ]


def distance(one: Sequence[float], other: Sequence[float]) -> float:
    """The largest difference of two samples' distribution functions, of Kolmogorov and Smirnov; 0 to 1."""
    ones, others = sorted(one), sorted(other)
    points = sorted({*ones, *others})
    return max(abs(bisect_right(ones, x) / len(ones) - bisect_right(others, x) / len(others)) for x in points)
