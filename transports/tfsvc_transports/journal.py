"""Where a machine's updates are kept: appended in order, made durable in groups, read back after a crash."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Final, Protocol

from tfsvc.errors import OpError, RpcError, from_exception
from tfsvc.protocol.updates import Update

LOG = logging.getLogger("tfsvc")

CHECK_S: Final = 2.0
"""How often somebody looks whether the store is still there, and still ours."""
GROUP_MAX: Final = 4096
"""How many records are written at once."""
CLOSE_S: Final = 1.0
"""How long closing waits for what was appended to be written."""

Synced = Callable[[int], None]
"""Takes the highest durable number; called from any thread."""

Broke = Callable[[RpcError], None]
"""Told why updates can no longer be made durable: the node must end."""


class Journal(Protocol):
    """Keeps updates for one life of a node."""

    def recover(self) -> Sequence[Update]:
        """The updates that earlier lives made durable, in order."""
        ...

    def open(self, synced: Synced, broke: Broke) -> None:
        """Gets ready to append; ``synced`` is told whenever more has become durable."""
        ...

    def append(self, number: int, update: Update) -> None:
        """Takes the next update and returns at once."""
        ...

    def close(self) -> None:
        """Takes no more. What was appended but not reported may be lost."""
        ...


class MemoryJournal:
    """A journal as durable as the process: for dispatchers that need not survive it, and for tests.

    Args:
      keep: whether updates are kept, so that a later life in this process recovers them.
    """

    def __init__(self, keep: bool = False) -> None:
        self._keep = keep
        self._kept: list[Update] = []
        self._synced: Synced | None = None

    def recover(self) -> Sequence[Update]:
        return tuple(self._kept)

    def open(self, synced: Synced, broke: Broke) -> None:
        self._synced = synced

    def append(self, number: int, update: Update) -> None:
        synced = self._synced
        if synced is not None:
            if self._keep:
                self._kept.append(update)
            synced(number)

    def close(self) -> None:
        self._synced = None


class Store(Protocol):
    """A place that keeps records; used by one thread at a time."""

    def read(self) -> Sequence[Update]:
        """Records that fold to the state, in order."""
        ...

    def write(self, updates: Sequence[Update]) -> None:
        """Adds records and returns when they are durable; raises when they may not be."""
        ...

    def check(self) -> None:
        """Raises when the place is gone, or another's."""
        ...

    def close(self) -> None:
        """Lets another owner have the place."""
        ...


class GroupJournal:
    """Writes to a slow store on a thread of its own: what comes while it writes becomes the next group.

    A store that fails ends the node, since it could never answer again.

    Args:
      store: where the records go.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pending: SimpleQueue[tuple[int, Update] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def recover(self) -> Sequence[Update]:
        return self._store.read()

    def open(self, synced: Synced, broke: Broke) -> None:
        self._thread = threading.Thread(target=self._run, args=(synced, broke), name="tfsvc-journal", daemon=True)
        self._thread.start()

    def append(self, number: int, update: Update) -> None:
        self._pending.put((number, update))

    def close(self) -> None:
        """Writes what was appended, and lets go of the store; waits a second for it at the most."""
        self._pending.put(None)
        if self._thread is None:
            self._store.close()
        elif self._thread is not threading.current_thread():
            self._thread.join(CLOSE_S)

    def _run(self, synced: Synced, broke: Broke) -> None:
        try:
            self._write_groups(synced, broke)
        finally:
            self._store.close()

    def _write_groups(self, synced: Synced, broke: Broke) -> None:
        checked = time.monotonic()
        while True:
            group = self._next_group()
            records = [record for record in group if record is not None]
            try:
                if records:
                    self._store.write([update for _, update in records])
                if not group or time.monotonic() >= checked + CHECK_S:
                    self._store.check()
                    checked = time.monotonic()
            except Exception as error:
                LOG.critical("the journal cannot be written: %s", error, exc_info=not isinstance(error, OpError))
                broke(from_exception(error))
                return
            if records:
                synced(records[-1][0])
            if len(records) < len(group):
                return

    def _next_group(self) -> list[tuple[int, Update] | None]:
        """What has come; nothing, if nothing came for a while."""
        try:
            group = [self._pending.get(timeout=CHECK_S)]
        except Empty:
            return []
        while not self._pending.empty() and len(group) < GROUP_MAX:
            group.append(self._pending.get())
        return group
