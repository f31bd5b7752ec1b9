"""Runs registered functions on threads, each run and each pull of a stream on one of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final, Protocol

from tfsvc.errors import from_exception
from tfsvc.protocol.contract import Abandon, Execute, Executed, Pull, Pulled, Work
from tfsvc.protocol.ids import MILLISECOND
from tfsvc_transports.threads import Threads, keep, lend

THREADS_MAX: Final = 256
"""How many functions may run or wait for something at once; more wait for one of them."""
PATIENCE_NS: Final = 2 * MILLISECOND
"""Work that has waited for this long gets a thread beyond one for each processor."""

Done = Callable[[Executed | Pulled], None]


class Executor(Protocol):
    """What a driver needs to carry out ``Execute``, ``Pull`` and ``Abandon``."""

    def carry_out(self, command: Work, done: Done) -> None:
        """Runs it; ``done`` takes the outcome, on any thread. Nothing comes of ``Abandon``."""
        ...

    def close(self) -> None:
        """Begins nothing more, and waits for nothing."""
        ...


class Running(Protocol):
    """Registered functions; ``tfsvc.execution.methods.Methods`` is one."""

    def execute(self, command: Execute) -> Executed: ...

    def pull(self, command: Pull) -> Pulled: ...

    def abandon(self, run: int) -> None: ...


class ThreadExecutor:
    """An executor on daemon threads of this process."""

    def __init__(self, methods: Running) -> None:
        self._methods = methods
        self._threads = Threads("tfsvc-rpc", os.cpu_count() or 1, THREADS_MAX, PATIENCE_NS)

    def carry_out(self, command: Work, done: Done) -> None:
        self._threads.follow(lambda: self._run(command, done))

    def close(self) -> None:
        self._threads.shutdown()

    def _run(self, command: Work, done: Done) -> None:
        if isinstance(command, Abandon):
            self._methods.abandon(command.run)
        else:
            outcome = keep(lambda: self._outcome(command))
            lend(lambda: done(outcome))

    def _outcome(self, command: Execute | Pull) -> Executed | Pulled:
        try:
            return self._methods.execute(command) if isinstance(command, Execute) else self._methods.pull(command)
        except BaseException as failure:  # a function may raise even KeyboardInterrupt
            error = from_exception(failure)
        if isinstance(command, Execute):
            return Executed(command.run, (error,) * len(command.calls))
        return Pulled(command.run, error)
