"""Alarms: the nearest deadline of many sleepers, without asking each of them after every event."""

from __future__ import annotations

import heapq
from typing import Protocol

from tfsvc.protocol.ids import NEVER, Instant


class Sleeper(Protocol):
    """A part of a machine that now and then waits for time to pass."""

    def deadline(self) -> Instant:
        """When it next wants to be woken, ``NEVER`` if it does not."""
        ...

    def wake(self) -> None:
        """Does what is due; an early call changes nothing."""
        ...


class Alarms:
    """Wakes sleepers in time.

    A sleeper calls ``set`` whenever its deadline has come nearer. Deadlines that moved away, or are gone, are
    noticed when they would have rung.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[Instant, int, Sleeper]] = []
        self._set: dict[Sleeper, Instant] = {}
        self._count = 0

    def set(self, sleeper: Sleeper) -> None:
        """Takes note of a deadline."""
        at = sleeper.deadline()
        if at < self._set.get(sleeper, NEVER):
            self._set[sleeper] = at
            self._count += 1
            heapq.heappush(self._heap, (at, self._count, sleeper))

    def deadline(self) -> Instant:
        """The nearest one."""
        heap = self._heap
        while heap:
            at, _, sleeper = heap[0]
            if self._set.get(sleeper) == at:
                if sleeper.deadline() == at:
                    return at
                del self._set[sleeper]
            heapq.heappop(heap)
            self.set(sleeper)
        return NEVER

    def wake(self, now: Instant) -> None:
        """Wakes every sleeper whose deadline has come."""
        while self.deadline() <= now:
            _, _, sleeper = heapq.heappop(self._heap)
            del self._set[sleeper]
            sleeper.wake()
            self.set(sleeper)
