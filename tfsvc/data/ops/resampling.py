"""The functions of ``Dataset.rejection_resample``: which elements stay, so that classes come as often as wished.

With ``t`` the wished and ``p`` the given share of a class, ``m`` and ``M`` the least and the greatest ``t / p``: all
elements are mixed, with probability ``m``, with those that stay, each with probability ``(t / p - m) / (M - m)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfsvc.data.elements import as_leaf
from tfsvc.data.functions import call

SMOOTHING: Final = 10
"""Elements of each class that are taken as seen before the first, where the distribution is estimated."""

ESTIMATED_TOGETHER: Final = 32
"""Elements for which one estimate is made."""


@dataclass(frozen=True)
class Label:
    """From an element to a pair of its class and itself."""

    class_func: Callable[..., Any]

    def __call__(self, *element: Any) -> Any:
        whole = element[0] if len(element) == 1 else element
        return self.of(whole), whole

    def alone(self, *element: Any) -> Any:
        """The class alone."""
        return self(*element)[0]

    def of(self, element: Any) -> Any:
        """The class of an element."""
        return as_leaf(call(self.class_func, element))


def estimate(seen: Any, labels: Any) -> Any:
    """The next counts of classes, and their shares, once for each of the elements that are estimated together."""
    count = len(seen)
    known = labels[(labels >= 0) & (labels < count)]
    seen = seen + np.bincount(known, minlength=count)
    shares = (seen / seen.sum()).astype(np.float32)
    return seen, np.broadcast_to(shares, (ESTIMATED_TOGETHER, count))


def mixing(target: Any, initial: Any) -> tuple[Any, Any]:
    """How likely an element of each class stays, and how likely one of all is taken; float32."""
    ratios = target / (initial + np.finfo(np.float32).tiny)
    least = ratios.min()
    with np.errstate(invalid="ignore"):
        return (ratios - least) / (ratios.max() - least), least


@dataclass(frozen=True)
class Acceptance:
    """From the shares of classes to how likely an element of each stays."""

    target: Any

    def __call__(self, initial: Any) -> Any:
        return mixing(self.target, initial)[0]


@dataclass(frozen=True)
class Mixing:
    """From the shares of classes to the weights of all elements and of those that stay."""

    target: Any

    def __call__(self, initial: Any) -> Any:
        least = mixing(self.target, initial)[1]
        return np.array([least, 1 - least], np.float32)


@dataclass(frozen=True)
class Judge:
    """From how likely each class stays, an element and a random number to whether the element stays."""

    label: Label

    def __call__(self, acceptance: Any, element: Any, number: Any) -> Any:
        label = self.label.of(element)
        return np.bool_(number < acceptance[label]), label, element


def stays(judged: Any, label: Any, element: Any) -> Any:
    """The verdict of :class:`Judge`."""
    return judged


def labelled(judged: Any, label: Any, element: Any) -> Any:
    """An element behind its class."""
    return label, element
