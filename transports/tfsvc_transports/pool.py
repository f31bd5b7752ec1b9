"""Runs pipelines: the commands of each in order, those of different ones side by side."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from tfsvc.errors import from_exception
from tfsvc.execution.runner import Runner
from tfsvc.protocol.contract import Produce, Produced
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.production import Broken, Production
from tfsvc_transports.threads import Threads

THREADS_MAX: Final = 256
"""How many pipelines may be inside user code that waits for something."""
PATIENCE_NS: Final = 100 * MILLISECOND

Done = Callable[[Produced], None]


class Producers(Protocol):
    """What a driver needs to carry out ``Produce`` and ``Discard``."""

    def produce(self, command: Produce, done: Done) -> None:
        """Runs a pipeline for a while; ``done`` takes the outcome, on any thread."""
        ...

    def discard(self, producer: int) -> None:
        """Drops a pipeline, after the run it may be in."""
        ...

    def close(self) -> None:
        """Drops all pipelines without waiting for them."""
        ...


class Running(Protocol):
    """A set of pipelines; each is used by one thread at a time. ``Runner`` is one."""

    def run(self, command: Produce) -> Production: ...

    def discard(self, producer: int) -> None: ...


class Pool:
    """Producers on daemon threads of this process.

    As many threads as there are processors share the work; a user function that blocks for more than
    100 ms is given up on, and another thread takes its place.

    Args:
      runner: holds the pipelines; a fresh ``Runner`` by default.
    """

    def __init__(self, runner: Running | None = None) -> None:
        self._runner = Runner(clock=time.monotonic_ns) if runner is None else runner
        self._threads = Threads("tfsvc-pool", os.cpu_count() or 1, THREADS_MAX, PATIENCE_NS)
        self._lock = threading.Lock()
        self._waiting: dict[int, deque[Callable[[], None]]] = {}

    def produce(self, command: Produce, done: Done) -> None:
        self._add(command.producer, lambda: done(Produced(command.producer, self._make(command))))

    def discard(self, producer: int) -> None:
        self._add(producer, lambda: self._runner.discard(producer))

    def close(self) -> None:
        self._threads.shutdown()

    def _make(self, command: Produce) -> Production:
        try:
            return self._runner.run(command)
        except BaseException as error:  # a function may raise even KeyboardInterrupt, which no signal brings here
            self._runner.discard(command.producer)
            return Production((), Broken(from_exception(error, "the worker could not run the dataset")))

    def _add(self, producer: int, action: Callable[[], None]) -> None:
        with self._lock:
            waiting = self._waiting.get(producer)
            if waiting is not None:
                waiting.append(action)
                return
            self._waiting[producer] = deque([action])
        self._threads.run(lambda: self._run(producer))

    def _run(self, producer: int) -> None:
        waiting = self._waiting[producer]
        while True:
            with self._lock:
                if not waiting:
                    del self._waiting[producer]
                    return
                action = waiting.popleft()
            action()
