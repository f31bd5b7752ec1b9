"""Pace: how long an element takes, from the newest of many measurements."""

from __future__ import annotations

from typing import Final

WEIGHT_MAX: Final = 4096
"""What came before so many elements counts half as much."""


class Pace:
    """The mean time for an element, in which older elements count less and less."""

    def __init__(self) -> None:
        self._spent_ns = 0.0
        self._count = 0.0

    @property
    def element_ns(self) -> float:
        """Nanoseconds an element; 0 where nothing was measured."""
        return self._spent_ns / self._count if self._count else 0.0

    def note(self, spent_ns: int, count: int) -> None:
        """So many more elements took so long."""
        self._spent_ns += spent_ns
        self._count += count
        while self._count > WEIGHT_MAX:
            self._spent_ns /= 2
            self._count /= 2
