"""Threads that operators work on: they hold up neither the end of the process nor that of their iterator."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from tfsvc.errors import FailedPreconditionError


class Crew:
    """Up to ``size`` daemon threads, which end when nothing refers to it any more, or with what they are at."""

    def __init__(self, name: str, size: int) -> None:
        self._name = name
        self._size = size
        self._count = 0
        self._pid = os.getpid()
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._ended = threading.Event()

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Calls ``function`` on one of the threads."""
        future: Future[Any] = Future()
        ended = self._ended

        def run() -> None:
            if ended.is_set() or not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(function(*args))
            except BaseException as error:
                future.set_exception(error)

        self._work.put(run)
        if self._count < self._size:
            self._count += 1
            name = f"{self._name}-{self._count}"
            threading.Thread(target=_loop, args=(self._work,), name=name, daemon=True).start()
        return future

    def check(self) -> None:
        """To be called before anything is waited for.

        Raises:
          FailedPreconditionError: in a forked process, which has none of the threads.
        """
        check_process(self._pid)

    def __del__(self) -> None:
        self._ended.set()
        for _ in range(self._count):
            self._work.put(None)


def _loop(work: SimpleQueue[Callable[[], None] | None]) -> None:
    while (run := work.get()) is not None:
        run()
        # What was done may be the last to hold results.
        del run


def check_process(pid: int) -> None:
    """Checks that this process is ``pid``.

    Raises:
      FailedPreconditionError: if it is not.
    """
    if os.getpid() != pid:
        raise FailedPreconditionError(
            message="This iterator works ahead in the process that made it, and cannot go on in one that was forked "
            "from it; iterate the dataset anew there."
        )
