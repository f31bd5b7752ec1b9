"""Daemon threads that come and go with the work."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Final, ParamSpec, TypeVar

from tfsvc.protocol.ids import Instant
from tfsvc_transports import timers

P = ParamSpec("P")
T = TypeVar("T")

IDLE_S: Final = 10.0
"""A thread without work for this long ends."""


class _Here(threading.local):
    """Whether this thread is lent, and what it does next."""

    lent = False
    next: Callable[[], None] | None = None


_here = _Here()


def lend(action: Callable[[], None]) -> None:
    """Runs ``action``, and then on the same thread what was handed to ``Threads.follow`` in it.

    It saves a switch of threads for a caller who would do nothing more. What follows may take long.
    """
    if _here.lent:
        action()
        return
    _here.lent = True
    try:
        action()
        while (follower := _here.next) is not None:
            _here.next = None
            follower()
    finally:
        _here.lent = False


def keep(action: Callable[[], T]) -> T:
    """Runs ``action`` as if this thread were not lent, since it may wait for what it brings about."""
    lent, _here.lent = _here.lent, False
    try:
        return action()
    finally:
        _here.lent = lent


class _Parked:
    """A thread that waits for work, which is handed to it."""

    def __init__(self) -> None:
        self.action: Callable[[], None] | None = None
        """What it was handed; nothing when its executor has ended."""
        self.go = threading.Lock()
        self.go.acquire()


class Threads(Executor):
    """An executor whose work never waits for work that is stuck, and which never holds up the exit of the process.

    Args:
      name: of the threads.
      base: how many threads share the work as long as it flows.
      limit: how many there may be.
      patience_ns: work that has waited for this long gets a thread beyond ``base``; 0 for one at once.
    """

    def __init__(self, name: str, base: int, limit: int, patience_ns: int = 0) -> None:
        self._name = name
        self._base = base
        self._limit = limit
        self._patience_ns = patience_ns
        self._lock = threading.Lock()
        self._work: deque[tuple[Instant, Callable[[], None]]] = deque()
        """What waits for a thread, and since when."""
        self._parked: list[_Parked] = []
        """Threads without work, the one that had some last at the end; work waits only while there is none."""
        self._count = 0
        self._watching = False
        self._closed = False

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Runs the call on one of the threads; after ``shutdown`` it is dropped."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(function(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        self.run(run)
        return future

    def run(self, action: Callable[[], None]) -> None:
        """Like ``submit`` for an action that raises nothing and whose end nobody waits for."""
        with self._lock:
            if self._closed:
                return
            if not self._parked:
                self._work.append((time.monotonic_ns(), action))
                if self._count < self._limit:
                    self._grow()
                return
            thread = self._parked.pop()
        thread.action = action
        thread.go.release()

    def follow(self, action: Callable[[], None]) -> None:
        """Like ``run``, but on this thread if it is lent and has not found a follower yet."""
        if _here.lent and _here.next is None and not self._closed:
            _here.next = action
        else:
            self.run(action)

    def shutdown(self, wait: bool = False, *, cancel_futures: bool = False) -> None:
        """Drops what has not begun; threads end with what they are at. Waits for none of them."""
        with self._lock:
            self._closed = True
            self._work.clear()
            parked, self._parked = self._parked, []
        for thread in parked:
            thread.go.release()

    def _grow(self) -> None:
        """Starts a thread now or, beyond ``base``, when the work turns out to be stuck."""
        if self._count < self._base or not self._patience_ns:
            self._start()
        elif not self._watching:
            self._watching = True
            self._watch(self._work[0][0])

    def _watch(self, since: Instant) -> None:
        timers.at(since + self._patience_ns, self._relieve)

    def _relieve(self) -> None:
        """Starts a thread for work that has waited too long; looks again as long as any waits."""
        with self._lock:
            self._watching = bool(self._work) and self._count < self._limit
            if self._watching:
                since, now = self._work[0][0], time.monotonic_ns()
                if now - since >= self._patience_ns:
                    self._start()
                    since = now
                self._watch(since)

    def _start(self) -> None:
        thread = threading.Thread(target=self._loop, name=f"{self._name}-{self._count + 1}", daemon=True)
        with suppress(RuntimeError):  # some Pythons start none any more once the interpreter ends
            thread.start()
            self._count += 1

    def _loop(self) -> None:
        while self._run_next():
            pass

    def _run_next(self) -> bool:
        """Does what is next, and keeps nothing of it alive; false at the end."""
        action = self._next()
        if action is not None:
            action()
        return action is not None

    def _next(self) -> Callable[[], None] | None:
        """What this thread does next; ``None`` once there has been nothing for long."""
        with self._lock:
            if self._work:
                return self._work.popleft()[1]
            if self._closed:
                self._count -= 1
                return None
            here = _Parked()
            self._parked.append(here)
        if not here.go.acquire(timeout=IDLE_S):
            with self._lock:
                if here in self._parked:
                    self._parked.remove(here)
                    self._count -= 1
                    return None
            here.go.acquire()  # it was handed something just now
        return here.action
