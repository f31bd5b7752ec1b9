"""Runs pipelines and pieces of graphs: the commands of each in order, those of different ones side by side."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from tfsvc.errors import from_exception
from tfsvc.execution.runner import Runner
from tfsvc.graph.runner import GraphRunner
from tfsvc.protocol.contract import Compute, Computed, Produce, Produced, Wipe
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.production import Broken, Production
from tfsvc_transports.threads import Threads, lend

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


class Ordered:
    """Runs actions on daemon threads: those under one number in order, others side by side.

    As many threads as there are processors share the work; an action that blocks for more than 100 ms is
    given up on, and another thread takes its place.

    Args:
      name: of the threads.
      follows: whether an action may run on the thread that brought it about, if that is lent.
    """

    def __init__(self, name: str, follows: bool = False) -> None:
        self._follows = follows
        self._threads = Threads(name, os.cpu_count() or 1, THREADS_MAX, PATIENCE_NS)
        self._lock = threading.Lock()
        self._waiting: dict[int, deque[Callable[[], None]]] = {}

    def add(self, number: int, action: Callable[[], None]) -> None:
        with self._lock:
            waiting = self._waiting.get(number)
            if waiting is not None:
                waiting.append(action)
                return
            self._waiting[number] = deque([action])
        begin = self._threads.follow if self._follows else self._threads.run
        begin(partial(self._run, number))

    def close(self) -> None:
        """Drops what has not begun."""
        self._threads.shutdown()

    def _run(self, number: int) -> None:
        waiting = self._waiting[number]
        while True:
            with self._lock:
                if not waiting:
                    del self._waiting[number]
                    return
                action = waiting.popleft()
            lend(action)


class Pool:
    """Producers on daemon threads of this process.

    Args:
      runner: holds the pipelines; a fresh ``Runner`` by default.
    """

    def __init__(self, runner: Running | None = None) -> None:
        self._runner = Runner(clock=time.monotonic_ns) if runner is None else runner
        self._actions = Ordered("tfsvc-pool")

    def produce(self, command: Produce, done: Done) -> None:
        self._actions.add(command.producer, lambda: done(Produced(command.producer, self._make(command))))

    def discard(self, producer: int) -> None:
        self._actions.add(producer, lambda: self._runner.discard(producer))

    def close(self) -> None:
        self._actions.close()

    def _make(self, command: Produce) -> Production:
        try:
            return self._runner.run(command)
        except BaseException as error:  # a function may raise even KeyboardInterrupt, which no signal brings here
            self._runner.discard(command.producer)
            return Production((), Broken(from_exception(error, "the worker could not run the dataset")))


class Computers(Protocol):
    """What a driver needs to carry out ``Compute``, ``Wipe`` and ``Discard``."""

    def compute(self, command: Compute, done: Callable[[Computed], None]) -> None:
        """Runs a piece as far as it goes; ``done`` takes the outcome, on any thread."""
        ...

    def wipe(self, command: Wipe) -> None:
        """Drops state at once."""
        ...

    def discard(self, piece: int) -> None:
        """Drops a piece, after the run it may be in."""
        ...

    def close(self) -> None:
        """Drops all pieces without waiting for them."""
        ...


class GraphPool:
    """Pieces of graphs on daemon threads of this process, all with one state."""

    def __init__(self) -> None:
        self._runner = GraphRunner()
        self._actions = Ordered("tfsvc-graph", follows=True)

    def compute(self, command: Compute, done: Callable[[Computed], None]) -> None:
        self._actions.add(command.piece, lambda: done(Computed(command.piece, self._runner.run(command))))

    def wipe(self, command: Wipe) -> None:
        self._runner.wipe(command)

    def discard(self, piece: int) -> None:
        self._actions.add(piece, lambda: self._runner.discard(piece))

    def close(self) -> None:
        self._actions.close()
