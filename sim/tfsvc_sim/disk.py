"""The disk: a journal whose records are safe only once they were synced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.updates import Update
from tfsvc_sim.engine import Engine

SYNC_NS: Final = 2 * MILLISECOND


class Disk:
    """Appends at once, syncs in groups: what is appended during a sync waits for the next one.

    Args:
      luck: how long each sync takes, and how much of an un-synced tail outlives a crash.
      sync_ns: how long a sync takes on the average.
    """

    def __init__(self, engine: Engine, luck: Luck, sync_ns: int = SYNC_NS) -> None:
        self.records: list[Update] = []
        self.durable = 0
        """How many records are safe."""
        self.synced: Callable[[int], None] = lambda upto: None
        """Called with the number of safe records after each sync."""
        self._engine = engine
        self._luck = luck
        self._sync_ns = sync_ns
        self._syncing = False
        self._life = 0

    def append(self, number: int, update: Update) -> None:
        """Adds record ``number``, which must be the next one."""
        assert number == len(self.records) + 1, f"record {number} was appended behind record {len(self.records)}"
        self.records.append(update)
        self._sync()

    def crash(self) -> None:
        """Loses the un-synced tail; some of it may have reached the disk all the same."""
        self._life += 1
        self._syncing = False
        tail = len(self.records) - self.durable
        self.durable += self._luck.below(tail + 1)
        del self.records[self.durable :]

    def _sync(self) -> None:
        if self._syncing or self.durable == len(self.records):
            return
        self._syncing = True
        taken = self._sync_ns // 2 + self._luck.below(self._sync_ns + 1)
        self._engine.call_at(self._engine.now + taken, self._done, self._life, len(self.records))

    def _done(self, life: int, upto: int) -> None:
        if life != self._life:
            return
        self._syncing = False
        self.durable = upto
        self.synced(upto)
        self._sync()
