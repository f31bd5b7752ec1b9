"""Outcomes: an experiment in numbers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an experiment went.

    Attributes:
      ended: whether all trainers had their end before time was up.
      epoch_s: from the beginning of reading to when the last trainer left, or time was up.
      elements: taken by trainers.
      made: by workers; more than ``elements`` by what was made again, or for nobody.
      repeated: elements that a trainer was given again.
      missing: elements that no trainer was given.
      skipped: elements that had left the trainers' cache before a slow trainer came to them.
      goodput: elements a second that counted: the first time each.
      stall: the share of their time that trainers waited.
      wait_ms_mean, wait_ms_p50, wait_ms_p99, wait_ms_max: how long a step was waited for.
      step_ms: from one step to the next, on the average.
      worker_s: seconds that workers were paid for.
      busy_s: seconds that they worked.
      fairness: Jain's index of the trainers' rates: 1 if they are equal, 1/n if one has everything.
      dollars: for workers and trainers.
      calls: remote calls.
      workers_max: the most at one time.
      rescalings: how often the number of workers that was wanted went the other way.
    """

    ended: bool
    epoch_s: float
    elements: int
    made: int
    repeated: int
    missing: int
    skipped: int
    goodput: float
    stall: float
    wait_ms_mean: float
    wait_ms_p50: float
    wait_ms_p99: float
    wait_ms_max: float
    step_ms: float
    worker_s: float
    busy_s: float
    fairness: float
    dollars: float
    calls: int
    workers_max: int
    rescalings: int


def jain(rates: Sequence[float]) -> float:
    """Jain's index of fairness; 1 for no rates at all."""
    squares = len(rates) * sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / squares if squares else 1.0


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value that so many do not exceed; 0 of none."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def reversals(counts: Sequence[int]) -> int:
    """How often a series of numbers that rose fell, or the other way round."""
    moves = [b - a for a, b in itertools.pairwise(counts) if a != b]
    return sum((a > 0) != (b > 0) for a, b in itertools.pairwise(moves))
