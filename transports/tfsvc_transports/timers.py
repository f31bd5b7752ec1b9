"""One thread for all timers of the process, which also runs what an application thread must not."""

from __future__ import annotations

import heapq
import itertools
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue

from tfsvc.protocol.ids import Instant

LOG = logging.getLogger("tfsvc")

Action = Callable[[], None]


class Timers:
    """Runs actions at or after their instants of ``time.monotonic_ns``, each on the one daemon thread.

    Actions are short and are never cancelled: one that is no longer wanted does nothing.
    """

    def __init__(self) -> None:
        self._arrivals: SimpleQueue[tuple[Instant, int, Action]] = SimpleQueue()
        self._numbers = itertools.count()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def at(self, when: Instant, action: Action) -> None:
        """Runs ``action`` as soon as the clock shows ``when``; 0 for as soon as possible."""
        if self._thread is None:
            self._start()
        self._arrivals.put((when, next(self._numbers), action))

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tfsvc-timers", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        planned: list[tuple[Instant, int, Action]] = []
        while True:
            wait = None if not planned else max(0, planned[0][0] - time.monotonic_ns()) / 1e9
            with suppress(Empty):
                heapq.heappush(planned, self._arrivals.get(timeout=wait))
            while planned and planned[0][0] <= time.monotonic_ns():
                action = heapq.heappop(planned)[2]
                try:
                    action()
                except Exception:
                    LOG.exception("a timer's action failed")


_timers = Timers()


def _forget() -> None:
    """A forked child has none of its parent's threads."""
    global _timers
    _timers = Timers()


os.register_at_fork(after_in_child=_forget)


def at(when: Instant, action: Action) -> None:
    """Runs ``action`` at or after ``when`` on the process's timer thread."""
    _timers.at(when, action)


def soon(action: Action) -> None:
    """Runs ``action`` on the process's timer thread as soon as possible."""
    _timers.at(0, action)
