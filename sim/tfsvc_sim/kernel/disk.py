"""The disk: a journal whose records are safe only once they were synced, and which may fail.

It keeps segments under the names that real stores give them, read and not spelt out, and finds the journal among them
by the same rule. Compaction goes on beside everything else, one object at a time, and a crash may fall between any two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, StrEnum
from functools import partial
from typing import Final

from tfsvc.errors import Code, RpcError, UnavailableError
from tfsvc.protocol.dispatcher.history import history, shorten
from tfsvc.protocol.dispatcher.state import DispatcherState
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.updates import Update
from tfsvc.wire.errors import WireError
from tfsvc.wire.segments import Log, Part, Plan, Segment, arrange, damaged, decode_segment, encode_segment
from tfsvc_sim.kernel.engine import Engine

SYNC_NS: Final = 2 * MILLISECOND
PART: Final = 8
"""How many records a part of a snapshot holds."""


class Trouble(Enum):
    """What may be wrong with a disk."""

    FULL = "no space left on the disk"
    UNREADABLE = "the disk cannot be read"
    ERRORS = "input/output error"
    """Now and then a record cannot be written; see ``FAILING``."""


FAILING: Final = 4
"""With input/output errors, one sync in so many fails."""


class Aftermath(StrEnum):
    """What of a disk the next life finds, from mild to severe."""

    KEPT = "kept"
    """Everything that was written: only the process died."""
    TORN = "torn"
    """What was synced, and some of what was not."""
    LOST = "lost"
    """What was synced, and nothing else."""
    SWAPPED = "swapped"
    """The journal of another dispatcher."""
    WIPED = "wiped"
    """Nothing."""


def flip(segment: bytes, bit: int) -> bytes:
    """The same bytes with one bit changed."""
    at = bit % (len(segment) * 8)
    return segment[: at // 8] + bytes([segment[at // 8] ^ 1 << at % 8]) + segment[at // 8 + 1 :]


class Disk:
    """Appends at once, syncs in groups: what is appended during a sync waits for the next one.

    Args:
      luck: how long each sync takes, and how much of an un-synced tail outlives a crash.
      sync_ns: how long a sync takes on the average.
      compacts: whether records are compacted.
      compact_after: how many records may lie behind a snapshot before the next one is begun.
    """

    def __init__(
        self,
        engine: Engine,
        luck: Luck,
        sync_ns: int = SYNC_NS,
        compacts: bool = False,
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
        self.noted: Callable[[Update], None] | None = None
        """Called with each record as it is appended."""
        self.trouble: Trouble | None = None
        self.slowness = 1
        """How many times as long as usual a sync takes."""
        self.restored = 0
        """How many lives began with a snapshot."""
        self._engine = engine
        self._luck = luck
        self._sync_ns = sync_ns
        self._compacts = compacts
        self._compact_after = compact_after
        self._objects: dict[Log | Part, tuple[Update, ...]] = {}
        self._state = DispatcherState()
        """What the safe records fold to, where they are compacted."""
        self._logs = 0
        self._behind = 0
        self._compacting = False
        self._syncing = False
        self._life = 0
        self._rotten: int | None = None

    def recover(self) -> list[Update]:
        """What a new life is folded from.

        Raises:
          UnavailableError: if the disk cannot be read.
          DataLossError: if a bit of the journal has changed.
        """
        if self.trouble is Trouble.UNREADABLE:
            raise UnavailableError(message=self.trouble.value)
        if self._rotten is not None:
            self._read_rotten(self._rotten)
        self.restored += bool(self._plan().snapshot)
        self.check()
        return self._kept()

    def check(self) -> None:
        """Asserts that compacting has changed nothing: what is kept folds to what all records fold to."""
        if self._compacts and self._plan().snapshot:
            assert list(shorten(self._kept())) == list(history(self._state)), "compacting changed the state"

    def _plan(self) -> Plan:
        return arrange(self._objects, "the simulated disk")

    def _kept(self) -> list[Update]:
        found = self._plan()
        names: list[Log | Part] = [*found.snapshot, *found.logs]
        return [update for name in names for update in self._objects[name]]

    def append(self, number: int, update: Update) -> None:
        """Adds record ``number``, which must be the next one."""
        assert number == len(self.records) + 1, f"record {number} was appended behind record {len(self.records)}"
        self.records.append(update)
        if self.noted is not None:
            self.noted(update)
        self._sync()

    def crash(self, aftermath: Aftermath = Aftermath.TORN) -> None:
        """Its node dies; ``aftermath`` says what becomes of what was not synced."""
        self._life += 1
        self._syncing = self._compacting = False
        tail = len(self.records) - self.durable
        survives = self._luck.below(tail + 1)
        match aftermath:
            case Aftermath.KEPT:
                survives = tail
            case Aftermath.LOST:
                survives = 0
            case _:
                pass
        self._keep(self.durable + survives)
        del self.records[self.durable :]

    def rot(self) -> None:
        """One bit of one object of the journal changes; nobody notices before it is read."""
        self._rotten = self._luck.bits()

    def restore(self) -> None:
        """The object is as it was, from a copy."""
        self._rotten = None

    def swap(self, records: Sequence[Update]) -> None:
        """Another disk, with these records."""
        self.wipe()
        self.records += records
        self._keep(len(records))

    def wipe(self) -> None:
        """Everything is gone."""
        self._life += 1
        self._syncing = self._compacting = False
        self.records.clear()
        self._objects.clear()
        self._state = DispatcherState()
        self.durable = self._logs = self._behind = 0
        self._rotten = None

    def _read_rotten(self, bit: int) -> None:
        found = self._plan()
        names: tuple[Log | Part, ...] = (*found.snapshot, *found.logs)
        if not names:
            return
        name = names[(bit >> 32) % len(names)]
        whole = encode_segment(Segment(name.number, 0, 0, "dispatcher", self._objects[name]))
        try:
            decode_segment(flip(whole, bit & 0xFFFFFFFF))
        except WireError as error:
            raise damaged("the simulated disk", error) from error
        raise AssertionError("a changed bit went unnoticed")

    def _sync(self) -> None:
        if self._syncing or self.durable == len(self.records):
            return
        self._syncing = True
        taken = self._sync_ns // 2 + self._luck.below(self._sync_ns + 1)
        if self._engine.ties.drawn >= self._engine.ties.calm_after:
            taken = self._sync_ns
        taken *= self.slowness
        self._engine.call_at(self._engine.now + taken, self._done, self._life, len(self.records))

    def _done(self, life: int, upto: int) -> None:
        if life != self._life:
            return
        if self.trouble is not None and self._fails(self.trouble):
            return
        self._syncing = False
        self._keep(upto)
        self.synced(upto)
        self._compact()
        self._sync()

    def _fails(self, trouble: Trouble) -> bool:
        """Whether a sync comes to nothing."""
        if trouble is Trouble.FULL:
            self.broke(RpcError(Code.RESOURCE_EXHAUSTED, trouble.value))
        elif trouble is Trouble.ERRORS and self._luck.below(FAILING) == 0:
            self.broke(RpcError(Code.DATA_LOSS, trouble.value))
        else:
            return False
        return True

    def _keep(self, upto: int) -> None:
        """Records up to this number become a segment."""
        if upto > self.durable:
            self._logs += 1
            added = self._objects[Log(self._logs)] = tuple(self.records[self.durable : upto])
            if self._compacts:
                for update in added:
                    self._state.apply(update)
            self._behind += upto - self.durable
            self.durable = upto

    def _compact(self) -> None:
        if not self._compacts or self._compacting or self._behind < self._compact_after:
            return
        self._compacting = True
        self._behind = 0
        short = tuple(history(self._state))
        parts = [short[at : at + PART] for at in range(0, len(short), PART)]
        names = [Part(self._logs, self._life, i, i == len(parts) - 1) for i in range(len(parts))]
        steps: list[Callable[[], None]] = [
            partial(self._objects.__setitem__, n, part) for n, part in zip(names, parts, strict=True)
        ]
        self._go_on(self._life, steps)

    def _go_on(self, life: int, steps: list[Callable[[], None]]) -> None:
        """One step of a compaction after the other: parts of the snapshot, then what is stale by it."""
        if life != self._life:
            return
        if not steps or (self.trouble is not None and self.trouble is not Trouble.ERRORS):
            self._compacting = False
            return
        steps.pop(0)()
        if not steps:
            stale = self._plan().stale
            steps = [partial(self._objects.__delitem__, name) for name in stale]
        self._engine.call_at(self._engine.now + self._sync_ns // 2, self._go_on, life, steps)
