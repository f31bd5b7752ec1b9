"""TensorFlow's random numbers: Philox 4x32 with ten rounds, many numbers a call.

The generator is that of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011). A stream is a pure
function of two seeds, and its numbers can be had from any place on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (np.uint64(0x9E3779B9), np.uint64(0xBB67AE85))
_LOW = np.uint64(0xFFFFFFFF)
_HIGH = np.uint64(32)
_ROUNDS = 10
_CHUNK = 1 << 14
"""Counters that are worked on at once, so that all that is at hand stays in the processor's cache."""


def philox(counter: tuple[Any, Any, Any, Any], key: tuple[Any, Any]) -> tuple[Any, Any, Any, Any]:
    """The four words for each counter and key; words are uint64 below 2**32, arrays or scalars that broadcast."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        one, two = _MULTIPLIERS[0] * c0, _MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (two >> _HIGH) ^ c1 ^ k0, two & _LOW, (one >> _HIGH) ^ c3 ^ k1, one & _LOW
        k0, k1 = (k0 + _WEYL[0]) & _LOW, (k1 + _WEYL[1]) & _LOW
    return c0, c1, c2, c3


def halves(number: int) -> tuple[Any, Any]:
    """The low and the high word of a number modulo 2**64."""
    return np.uint64(number & 0xFFFFFFFF), np.uint64(number >> 32 & 0xFFFFFFFF)


class Philox:
    """The stream of 32-bit numbers of two seeds, taken modulo 2**64.

    Args:
      seeds: the seeds as TensorFlow's operations have them.
      place: how many numbers have been taken already.
    """

    def __init__(self, seeds: tuple[int, int], place: int = 0) -> None:
        self._seeds = seeds
        self._key = halves(seeds[0])
        self._stream = halves(seeds[1])
        self._words = np.empty(0, np.uint32)
        self._first = 0
        self.place = place

    def save(self) -> tuple[tuple[int, int], int]:
        """The arguments to make it again."""
        return self._seeds, self.place

    def take(self, count: int) -> Any:
        """The next ``count`` numbers as an array of uint32."""
        start = self.place - self._first
        if start < 0 or start + count > len(self._words):
            self._first = self.place - self.place % 4
            self._words = self._make(self._first // 4, -(-(self.place - self._first + max(count, 1024)) // 4))
            start = self.place - self._first
        self.place += count
        return self._words[start : start + count]

    def _make(self, first: int, count: int) -> Any:
        """The words of ``count`` counters from ``first`` on."""
        made = np.empty((count, 4), np.uint32)
        for lo in range(0, count, _CHUNK):
            part = made[lo : lo + _CHUNK]
            at = np.arange(len(part), dtype=np.uint64) + np.uint64((first + lo) % 2**64)
            words = philox((at & _LOW, at >> _HIGH, *self._stream), self._key)
            for place, word in enumerate(words):
                part[:, place] = word
        return made.reshape(-1)
