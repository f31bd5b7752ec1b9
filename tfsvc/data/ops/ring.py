"""The draws of a shuffle, made with numbers that stand for elements: TensorFlow's order, whatever the elements are.

TensorFlow keeps the buffer in a ring of slots. A draw takes the element of a slot at random, moves the first element
of the ring there, and the slot that got free takes the next element of the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfsvc.data.philox import Philox

_CHUNK = 1 << 16

Luck = tuple[tuple[int, int], int]


class Ring:
    """At most ``size`` numbers, drawn from at random; as many as come where ``size`` is negative.

    Draws begin when the ring is full or :meth:`add` is at its end.
    """

    def __init__(self, size: int, luck: Philox) -> None:
        self._size = size
        self._luck = luck
        self._slots: list[int] = []
        self._start = 0
        self.count = 0

    def room(self, most: int) -> int:
        """How many numbers, ``most`` at the most, there are to come until the next one makes it full."""
        return most if self._size < 0 else min(most, self._size - 1 - self.count)

    def add(self, numbers: Sequence[int]) -> None:
        """Puts numbers, no more than there is room for, behind the others."""
        self._slots.extend(numbers)
        self.count += len(numbers)

    def exchange(self, numbers: Sequence[int]) -> list[int]:
        """For each number in turn: puts it in, which makes the ring full, and draws one."""
        size = self._size
        if len(self._slots) < size:
            self._slots.append(-1)
        slots, drawn = self._slots, []
        for number, free, first, chosen in zip(numbers, *self._turns(len(numbers), size, size), strict=True):
            slots[free] = number
            drawn.append(slots[chosen])
            slots[chosen] = slots[first]
        return drawn

    def draw(self, limit: int) -> list[int]:
        """Draws up to ``limit`` numbers of those that are left."""
        count = min(limit, self.count)
        slots, drawn = self._slots, []
        bounds = np.arange(self.count, self.count - count, -1)
        for _, first, chosen in zip(*self._turns(count, bounds, max(1, len(slots))), strict=True):
            drawn.append(slots[chosen])
            slots[chosen] = slots[first]
        self.count -= count
        return drawn

    def _turns(self, count: int, bounds: Any, slots: int) -> tuple[list[int], list[int], list[int]]:
        """The slots of ``count`` draws: the one before the first, the first, the chosen one."""
        first = self._start + np.arange(count)
        chosen = first + self._luck.take(count).astype(np.int64) % bounds
        self._start = (self._start + count) % slots
        return ((first - 1) % slots).tolist(), (first % slots).tolist(), (chosen % slots).tolist()

    def numbers(self) -> list[int]:
        """What it holds, in the order that decides about later draws."""
        turned = self._slots[self._start :] + self._slots[: self._start]
        return turned[: self.count]

    @property
    def luck(self) -> Luck:
        """The seeds of the draws, and how many there were."""
        return self._luck.save()

    def restore(self, numbers: Sequence[int], luck: Luck) -> None:
        """Makes an empty ring one that holds ``numbers``."""
        self.add(numbers)
        self._luck = Philox(*luck)

    def replay(self, count: int, luck: Luck) -> None:
        """Makes an empty ring one that was given the numbers below ``count`` and drawn from until ``luck``."""
        seeds, draws = luck
        self._luck = Philox(seeds)
        at = self.room(count)
        self.add(range(at))
        while at < count:
            self.exchange(range(at, at := min(count, at + _CHUNK)))
        while self._luck.place < draws:
            self.draw(min(_CHUNK, draws - self._luck.place))
