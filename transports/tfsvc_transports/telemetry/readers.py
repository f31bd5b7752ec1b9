"""The readers of this process: what their applications took, and how long they waited."""

from __future__ import annotations

import os
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from prometheus_client.core import Metric

from tfsvc.protocol import messages as m
from tfsvc.protocol.client.machine import ClientView
from tfsvc.protocol.contract import Call, Command, Event, Snapshot
from tfsvc.protocol.ids import Instant
from tfsvc_transports.telemetry import catalogue as c
from tfsvc_transports.telemetry.rpcs import RpcMeter

_COUNTED: Final = (
    (c.READER_ELEMENTS, "elements", 1.0),
    (c.READER_BYTES, "bytes", 1.0),
    (c.READER_WAIT, "waited_ns", 1e9),
    (c.READER_AGE, "age_ns", 1e9),
    (c.READER_DISCARDED, "discarded", 1.0),
    (c.READER_MISSED, "missed", 1.0),
)


@dataclass(slots=True)
class Watched:
    """A reader that is open: a watcher, which remembers what the reader told its dispatcher last."""

    label: str
    rpcs: RpcMeter = field(default_factory=lambda: RpcMeter("reader"))
    told: m.Consumption = m.Consumption()
    view: Callable[[], Snapshot] | None = None

    def saw(self, now: Instant, event: Event, commands: Sequence[Command]) -> None:
        self.rpcs.saw(now, event, commands)
        for command in commands:
            if isinstance(command, Call) and isinstance(
                command.request, m.ClientHeartbeatRequest | m.ReleaseIterationClientRequest
            ):
                self.told = command.request.consumption or self.told


class ReaderBook:
    """Keeps the count of what readers took that are gone, and asks those that are there."""

    def __init__(self) -> None:
        self.forget()

    def watch(self, job_name: str | None) -> Watched:
        """A watcher for a reader that is about to open."""
        with self._lock:
            return Watched(self._labels.of(job_name))

    def enter(self, watched: Watched, view: Callable[[], Snapshot]) -> None:
        """The reader is open; ``view`` gives its picture of itself."""
        with self._lock:
            watched.view = view
            self._open[id(watched)] = watched

    def leave(self, watched: Watched) -> None:
        """It is not any more. Safe to repeat."""
        with self._lock:
            if self._open.pop(id(watched), None) is not None:
                self._gone[watched.label].update(_numbers(watched.told))
                self._calls.update(watched.rpcs.made)

    def forget(self) -> None:
        """Begins anew, as in a process that was forked from the readers'."""
        self._lock = threading.Lock()
        self._labels = c.JobLabels()
        self._open: dict[int, Watched] = {}
        self._gone: dict[str, Counter[str]] = defaultdict(Counter)
        self._calls: Counter[c.Labels] = Counter()

    def collect(self) -> Iterable[Metric]:
        with self._lock:
            there = tuple(self._open.values())
            totals = {label: Counter(counted) for label, counted in self._gone.items()}
            calls = Counter(self._calls)
        buffered: Counter[str] = Counter()
        for watched in there:
            view = None if watched.view is None else watched.view()
            told, held = (view.consumption, view.buffered) if isinstance(view, ClientView) else (watched.told, 0)
            totals.setdefault(watched.label, Counter()).update(_numbers(told))
            buffered[watched.label] += held
            calls.update(watched.rpcs.made)
        count = Counter(watched.label for watched in there)
        yield c.READERS_OPEN.family({(label,): count[label] for label in totals})
        for series, name, unit in _COUNTED:
            yield series.family({(label,): counted[name] / unit for label, counted in totals.items()})
        yield c.READER_BUFFERED.family({(label,): buffered[label] for label in totals})
        yield c.RPCS_MADE.family(dict(calls))


def _numbers(consumption: m.Consumption) -> dict[str, int]:
    return {name: getattr(consumption, name) for _, name, _ in _COUNTED}


BOOK: Final = ReaderBook()
"""Of this process."""

os.register_at_fork(after_in_child=BOOK.forget)
