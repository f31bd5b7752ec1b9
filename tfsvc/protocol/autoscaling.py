"""How many workers would do: TensorFlow's estimate, from how long workers take and how fast readers would read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

GROWTH_MAX: Final = 4
STEP_MAX: Final = 500
WORKERS_MAX: Final = 100_000
"""A recommendation is at most so many times the workers there are, or so many more, or so many at all."""


def estimate(processing_ns: Sequence[float], target_ns: Sequence[float]) -> int | None:
    """Enough workers of mean speed for the elements that all readers together could use.

    Args:
      processing_ns: how long each worker takes for an element.
      target_ns: between which two elements each reader would never wait.

    Returns:
      ``None`` where no worker, or no reader, has said anything.
    """
    rates = _without_outliers([1 / ns for ns in processing_ns if ns > 0])
    demand = sum(1 / ns for ns in target_ns if ns > 0)
    if not rates or not demand:
        return None
    return max(1, math.ceil(demand / (sum(rates) / len(rates))))


def bounded(recommended: int, current: int) -> int:
    """The same, in a step from where one stands that can be taken back."""
    return min(recommended, max(1, min(GROWTH_MAX * current, current + STEP_MAX)), WORKERS_MAX)


def _without_outliers(values: list[float]) -> list[float]:
    """Values farther than one standard deviation from the mean count as the median."""
    if len(values) < 2:
        return values
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    ordered = sorted(values)
    half = len(ordered) // 2
    median = ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    return [value if abs(value - mean) <= deviation else median for value in values]
