"""The course of a cluster over the last minutes: how much was taken, who waited, for people alone.

Samples are taken when something happens anyway, so nobody is woken for them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from tfsvc.protocol.ids import SECOND, Instant
from tfsvc.protocol.messages.chronicle import JobTotal, Recent, Sample
from tfsvc.protocol.messages.description import ROWS_MAX, Consumption, Tally
from tfsvc.record import record

EVERY_NS: Final = 5 * SECOND
SAMPLES_MAX: Final = 180
"""A quarter of an hour."""
RECENT_NS: Final = 60 * SECOND
JOBS_MAX: Final = 100
"""How many names of jobs are told apart."""


@record
class _Point:
    at: Instant
    consumption: Consumption


@dataclass(slots=True)
class Course:
    """What the readers said, over time."""

    _next: Instant = 0
    _samples: deque[tuple[Instant, Sample]] = field(default_factory=lambda: deque(maxlen=SAMPLES_MAX))
    _points: dict[int, deque[_Point]] = field(default_factory=dict)
    """What each reader said, an interval apart but for the newest."""
    _gone: dict[str | None, Consumption] = field(default_factory=dict)
    """By job: what the readers had taken that are gone."""

    def due(self, now: Instant) -> bool:
        """Whether it is time for a sample."""
        return now >= self._next

    def sample(self, now: Instant, workers: int, readers: int, tally: Tally) -> None:
        self._next = now + EVERY_NS
        kept = Sample(
            0, workers, readers, tally.elements, tally.bytes, tally.waited_ns, tally.discarded, tally.splits_again
        )
        self._samples.append((now, kept))

    def said(self, client_id: int, consumption: Consumption, now: Instant) -> None:
        """A reader has told what it took in all."""
        points = self._points.setdefault(client_id, deque())
        if len(points) > 1 and now - points[-2].at < EVERY_NS:
            points.pop()
        points.append(_Point(now, consumption))
        while len(points) > 2 and points[1].at <= now - RECENT_NS:
            points.popleft()

    def left(self, client_id: int, job: str, consumption: Consumption | None) -> None:
        """A reader is gone; ``job``: the name of its job, empty for one without."""
        self._points.pop(client_id, None)
        if consumption is not None:
            name = job if job in self._gone or len(self._gone) < JOBS_MAX else None
            self._gone[name] = self._gone.get(name, Consumption()) + consumption

    def samples(self, now: Instant) -> tuple[Sample, ...]:
        """The oldest first."""
        return tuple(replace(sample, ago_ns=now - at) for at, sample in self._samples)

    def recent(self) -> tuple[Recent, ...]:
        """What each reader did in the last minute."""
        found = []
        for client_id, points in islice(self._points.items(), ROWS_MAX):
            last = points[-1]
            began = _Point(last.at - last.consumption.age_ns, Consumption())
            first = points[0] if points[0].at < last.at else began
            then, now = first.consumption, last.consumption
            if last.at > first.at:
                found.append(
                    Recent(
                        client_id,
                        last.at - first.at,
                        now.elements - then.elements,
                        now.bytes - then.bytes,
                        now.waited_ns - then.waited_ns,
                    )
                )
        return tuple(found)

    def totals(self, present: Mapping[int, tuple[str, Consumption]]) -> tuple[JobTotal, ...]:
        """By job: what all its readers took; ``present``: the job and the word of each that is there."""
        found = dict(self._gone)
        for job, consumption in present.values():
            name = job if job in found or len(found) < JOBS_MAX else None
            found[name] = found.get(name, Consumption()) + consumption
        return tuple(JobTotal(name, total) for name, total in found.items())
