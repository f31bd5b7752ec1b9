"""Writes the files of distributed snapshots, one deed after the other, on a thread of its own."""

from __future__ import annotations

from collections.abc import Callable

from tfsvc.execution.filing import store
from tfsvc.protocol.contract import Store, Stored
from tfsvc_transports.threads import Threads


class Files:
    """Carries out ``Store`` for a driver."""

    def __init__(self) -> None:
        self._threads = Threads("tfsvc-files", 1, 1)

    def store(self, command: Store, done: Callable[[Stored], None]) -> None:
        """Does it behind what was asked for before; ``done`` takes the outcome, on the thread of the files."""
        self._threads.run(lambda: done(store(command)))

    def close(self) -> None:
        """Begins nothing more, and waits for nothing."""
        self._threads.shutdown()
