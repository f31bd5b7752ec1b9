"""The functions of ``sample_from_datasets``: which dataset is drawn, as TensorFlow's ``stateless_multinomial`` says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc.data.philox import philox

_SCRAMBLE = (np.uint64(0x3EC8F720), np.uint64(0x02461E29))
_LOW = np.uint64(0xFFFFFFFF)
_HIGH = np.uint64(32)


def draw(logits: Any, seeds: Any) -> Any:
    """One position a row, each as likely as ``exp`` of its logit.

    Args:
      logits: floats of shape ``(rows, choices)``; the logarithms of weights.
      seeds: int64 of shape ``(rows, 2)``.

    Returns:
      int64 of shape ``(rows,)``; ``choices`` where no logit of a row is finite.
    """
    finite = np.isfinite(logits)
    largest = np.max(logits, axis=1, keepdims=True, where=finite, initial=np.finfo(logits.dtype).min)
    shares = np.where(finite, np.exp(logits.astype(np.float64) - largest), 0.0)
    ends = np.cumsum(shares, axis=1)
    wanted = _uniform(seeds.astype(np.uint64)) * ends[:, -1]
    return np.sum(ends <= wanted[:, None], axis=1, dtype=np.int64)


def _uniform(seeds: Any) -> Any:
    """The first double in [0, 1) of TensorFlow's stateless generator for each pair of seeds."""
    first, second = seeds[:, 0], seeds[:, 1]
    key0, key1, stream0, stream1 = philox((first & _LOW, first >> _HIGH, second & _LOW, second >> _HIGH), _SCRAMBLE)
    zero = np.zeros_like(key0)
    high, low, _, _ = philox((zero, zero, stream0, stream1), (key0, key1))
    return (((high & np.uint64(0xFFFFF)) << _HIGH) | low) * 2.0**-52


@dataclass(frozen=True)
class Draw:
    """From pairs of random numbers to positions, each as likely as its share of ``logits``; for many rows at once."""

    logits: tuple[float, ...]
    dtype: str

    def __call__(self, seeds: Any) -> Any:
        logits = np.array(self.logits, self.dtype)
        return draw(np.broadcast_to(logits, (len(seeds), len(logits))), seeds)


def draw_weighted(weights: Any, seeds: Any) -> Any:
    """The same with weights of their own in each row."""
    with np.errstate(divide="ignore"):
        return draw(np.log(weights), seeds)
