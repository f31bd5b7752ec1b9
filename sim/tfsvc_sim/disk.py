"""The disk: a journal whose records are safe only once they were synced, and which may fail.

It keeps segments under the names that real stores give them, and finds the journal among them by the same
rule. Compaction goes on beside everything else, one object at a time, and a crash may fall between any two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import partial
from typing import Final

from tfsvc.errors import Code, RpcError, UnavailableError
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.updates import Update
from tfsvc.wire.segments import Log, Part, plan
from tfsvc_sim.engine import Engine

SYNC_NS: Final = 2 * MILLISECOND
PART: Final = 8
"""How many records a part of a snapshot holds."""

Shorten = Callable[[Iterable[Update]], Iterator[Update]]
"""Makes few records of many that fold to the same state."""


class Trouble(Enum):
    """What may be wrong with a disk."""

    FULL = "no space left on the disk"
    UNREADABLE = "the disk cannot be read"


class Disk:
    """Appends at once, syncs in groups: what is appended during a sync waits for the next one.

    Args:
      luck: how long each sync takes, and how much of an un-synced tail outlives a crash.
      sync_ns: how long a sync takes on the average.
      shorten: how records are compacted; without it they never are.
      compact_after: how many records may lie behind a snapshot before the next one is begun.
    """

    def __init__(
        self,
        engine: Engine,
        luck: Luck,
        sync_ns: int = SYNC_NS,
        shorten: Shorten | None = None,
        compact_after: int = 1,
    ) -> None:
        self.records: list[Update] = []
        """All records there ever were, whether or not they were compacted since; what oracles go by."""
        self.durable = 0
        """How many records are safe."""
        self.synced: Callable[[int], None] = lambda upto: None
        """Called with the number of safe records after each sync."""
        self.broke: Callable[[RpcError], None] = lambda error: None
        """Called when records can no longer be made safe."""
        self.trouble: Trouble | None = None
        self.restored = 0
        """How many lives began with a snapshot."""
        self._engine = engine
        self._luck = luck
        self._sync_ns = sync_ns
        self._shorten = shorten
        self._compact_after = compact_after
        self._objects: dict[str, tuple[Update, ...]] = {}
        self._logs = 0
        self._behind = 0
        self._compacting = False
        self._syncing = False
        self._life = 0

    def recover(self) -> list[Update]:
        """What a new life is folded from.

        Raises:
          UnavailableError: if the disk cannot be read.
        """
        if self.trouble is Trouble.UNREADABLE:
            raise UnavailableError(message=self.trouble.value)
        self.restored += bool(plan(self._objects, "the simulated disk").snapshot)
        self.check()
        return self._kept()

    def check(self) -> None:
        """Asserts that compacting has changed nothing: what is kept folds to what all records fold to."""
        if self._shorten is not None and plan(self._objects, "the simulated disk").snapshot:
            full = self._shorten(self.records[: self.durable])
            assert list(self._shorten(self._kept())) == list(full), "compacting changed the state"

    def _kept(self) -> list[Update]:
        found = plan(self._objects, "the simulated disk")
        return [update for name in (*found.snapshot, *found.logs) for update in self._objects[str(name)]]

    def append(self, number: int, update: Update) -> None:
        """Adds record ``number``, which must be the next one."""
        assert number == len(self.records) + 1, f"record {number} was appended behind record {len(self.records)}"
        self.records.append(update)
        self._sync()

    def crash(self) -> None:
        """Loses the un-synced tail; some of it may have reached the disk all the same."""
        self._life += 1
        self._syncing = self._compacting = False
        tail = len(self.records) - self.durable
        self._keep(self.durable + self._luck.below(tail + 1))
        del self.records[self.durable :]

    def wipe(self) -> None:
        """Everything is gone."""
        self._life += 1
        self._syncing = self._compacting = False
        self.records.clear()
        self._objects.clear()
        self.durable = self._logs = self._behind = 0

    def _sync(self) -> None:
        if self._syncing or self.durable == len(self.records):
            return
        self._syncing = True
        taken = self._sync_ns // 2 + self._luck.below(self._sync_ns + 1)
        self._engine.call_at(self._engine.now + taken, self._done, self._life, len(self.records))

    def _done(self, life: int, upto: int) -> None:
        if life != self._life:
            return
        if self.trouble is Trouble.FULL:
            self.broke(RpcError(Code.RESOURCE_EXHAUSTED, self.trouble.value))
            return
        self._syncing = False
        self._keep(upto)
        self.synced(upto)
        self._compact()
        self._sync()

    def _keep(self, upto: int) -> None:
        """Records up to this number become a segment."""
        if upto > self.durable:
            self._logs += 1
            self._objects[str(Log(self._logs))] = tuple(self.records[self.durable : upto])
            self._behind += upto - self.durable
            self.durable = upto

    def _compact(self) -> None:
        if self._shorten is None or self._compacting or self._behind < self._compact_after:
            return
        self._compacting = True
        self._behind = 0
        short = tuple(self._shorten(self.records[: self.durable]))
        parts = [short[at : at + PART] for at in range(0, len(short), PART)]
        names = [Part(self._logs, self._life, i, i == len(parts) - 1) for i in range(len(parts))]
        steps: list[Callable[[], None]] = [
            partial(self._objects.__setitem__, str(n), part) for n, part in zip(names, parts, strict=True)
        ]
        self._go_on(self._life, steps)

    def _go_on(self, life: int, steps: list[Callable[[], None]]) -> None:
        """One step of a compaction after the other: parts of the snapshot, then what is stale by it."""
        if life != self._life:
            return
        if self.trouble is not None or not steps:
            self._compacting = False
            return
        steps.pop(0)()
        if not steps:
            stale = plan(self._objects, "the simulated disk").stale
            steps = [partial(self._objects.__delitem__, str(name)) for name in stale]
        self._engine.call_at(self._engine.now + self._sync_ns // 2, self._go_on, life, steps)
