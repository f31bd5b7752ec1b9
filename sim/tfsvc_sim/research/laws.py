"""Laws: how long things take, as inverse distribution functions. Their units are their user's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Final, Protocol

_NORMAL: Final = NormalDist()
_EDGE: Final = 2.0**-54
"""Keeps a unit of exactly 0 away from infinity."""


class Law(Protocol):
    """A distribution of positive numbers."""

    @property
    def mean(self) -> float: ...

    def at(self, unit: float) -> float:
        """The value that a share ``unit`` of all draws, in [0, 1), does not exceed."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """Always the same."""

    value: float

    @property
    def mean(self) -> float:
        return self.value

    def at(self, unit: float) -> float:
        return self.value


@dataclass(frozen=True, slots=True)
class Uniform:
    """Anything between two values."""

    low: float
    high: float

    @property
    def mean(self) -> float:
        return (self.low + self.high) / 2

    def at(self, unit: float) -> float:
        return self.low + unit * (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Exponential:
    """As the time to the next of many independent events."""

    mean: float

    def at(self, unit: float) -> float:
        return -self.mean * math.log1p(-unit)


@dataclass(frozen=True, slots=True)
class LogNormal:
    """What many multiplied causes give: sizes of files, lengths of sentences. ``sigma`` is of the logarithm."""

    mean: float
    sigma: float

    def at(self, unit: float) -> float:
        return self.mean * math.exp(self.sigma * _NORMAL.inv_cdf(unit + _EDGE) - self.sigma**2 / 2)


@dataclass(frozen=True, slots=True)
class Pareto:
    """A heavy tail: above its least value, a share x**-alpha of draws is x times that.

    Raises:
      ValueError: if ``alpha`` is not above 1, where there is no mean.
    """

    mean: float
    alpha: float

    def __post_init__(self) -> None:
        if self.alpha <= 1:
            raise ValueError(f"a Pareto law with alpha {self.alpha} has no mean; take one above 1")

    def at(self, unit: float) -> float:
        least = self.mean * (self.alpha - 1) / self.alpha
        return float(least * (1 - unit) ** (-1 / self.alpha))


@dataclass(frozen=True, slots=True)
class Sometimes:
    """A law of which a share of draws takes ``factor`` times as long."""

    usual: Law
    share: float
    factor: float

    @property
    def mean(self) -> float:
        return self.usual.mean * (1 + self.share * (self.factor - 1))

    def at(self, unit: float) -> float:
        if unit < 1 - self.share:
            return self.usual.at(unit / (1 - self.share))
        return self.factor * self.usual.at((unit - 1 + self.share) / self.share)


@dataclass(frozen=True, slots=True)
class Empirical:
    """What was measured: any of the samples, each as likely as the others.

    Raises:
      ValueError: if there are none.
    """

    samples: Sequence[float]
    mean: float = field(init=False)

    def __post_init__(self) -> None:
        if not self.samples:
            raise ValueError("an empirical law needs samples; measure first")
        object.__setattr__(self, "samples", tuple(sorted(self.samples)))
        object.__setattr__(self, "mean", sum(self.samples) / len(self.samples))

    def at(self, unit: float) -> float:
        return self.samples[int(unit * len(self.samples))]
