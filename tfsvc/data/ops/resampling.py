"""The functions of ``Dataset.rejection_resample``: which elements stay, so that classes come as often as wished."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc.data.elements import as_leaf
from tfsvc.data.functions import call

SMOOTHING = 10.0
"""Elements of each class that are taken as seen before the first, where the distribution is estimated."""


@dataclass(frozen=True)
class Judge:
    """From counts of classes, and a pair of an element and a random number, to whether the element stays.

    An element of class ``c`` stays as often as ``target[c] / initial[c]`` is a share of the largest such ratio.

    Attributes:
      class_func: from an element to its class.
      target: how often each class is to come.
      initial: how often each comes; from the counts when ``None``.
    """

    class_func: Callable[..., Any]
    target: tuple[float, ...]
    initial: tuple[float, ...] | None

    def __call__(self, counts: Any, drawn: Any) -> Any:
        element, number = drawn
        label = as_leaf(call(self.class_func, element))
        if self.initial is None:
            counts = counts.copy()
            counts[label] += 1
        initial = counts if self.initial is None else np.array(self.initial)
        ratios = np.array(self.target) / np.maximum(initial, np.finfo(np.float64).tiny)
        stays = np.bool_(number < 2.0**32 * ratios[label] / ratios.max())
        return counts, (stays, label, element)


def stays(judged: Any, label: Any, element: Any) -> Any:
    """The verdict of :class:`Judge`."""
    return judged


def labelled(judged: Any, label: Any, element: Any) -> Any:
    """An element behind its class."""
    return label, element
