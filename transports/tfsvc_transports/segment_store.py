"""The store of a journal: segments on a shelf, with one writer, and found again after it."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Sequence
from typing import Final, NamedTuple

from tfsvc.errors import DataLossError, FailedPreconditionError, NotFoundError, UnavailableError
from tfsvc.protocol.updates import Update
from tfsvc.wire.segments import Life, Log, Part, Segment, checksum, damaged, decode_segment, encode_segment, plan
from tfsvc_transports.compaction import Compactor, Kept, Shorten
from tfsvc_transports.shelf import Shelf

TRIES: Final = 8
"""How often a journal that another dispatcher is changing is read again."""


class Found(NamedTuple):
    """A journal as it was read.

    Attributes:
      updates: its records in order, those of the snapshot first.
      number: of its last segment; 0 for an empty journal.
      records: how many there were in its whole life.
      checksum: of its last segment.
      snapshot: how many of ``updates`` come from the snapshot.
      owner: who wrote the last segment.
    """

    updates: list[Update]
    number: int
    records: int
    checksum: int
    snapshot: int
    owner: str


def read_journal(shelf: Shelf) -> Found:
    """Reads and checks all of it.

    Raises:
      DataLossError: if it is damaged: a segment is missing, cut short, changed, or stands in another's place.
      NotFoundError: if a dispatcher compacts it at this moment; then it is read again.
    """
    found = plan(shelf.names(), shelf.where)
    updates: list[Update] = []
    number, records, last, snapshot, owner = found.base, 0, 0, 0, ""
    names: list[Log | Part] = [*found.snapshot, *found.logs]
    for name, body in zip(names, shelf.get([str(name) for name in names]), strict=True):
        try:
            segment = decode_segment(body)
        except DataLossError as error:
            raise damaged(shelf.where, f"{name}: {error.message}") from error
        expected = name.number, records, last
        if isinstance(name, Part):
            # A part says how many records the snapshot stands for, and the checksum of the last of their logs.
            expected = found.base, segment.first, segment.previous
            snapshot += len(segment.updates)
        if (segment.number, segment.first, segment.previous) != expected:
            raise damaged(shelf.where, f"{name} does not go on from what is before it")
        number, owner = name.number, segment.owner
        records, last = segment.first, segment.previous
        if isinstance(name, Log):
            records, last = records + len(segment.updates), checksum(body)
        updates.extend(segment.updates)
    return Found(updates, number, records, last, snapshot, owner)


class SegmentStore:
    """Keeps records on a shelf; each group is durable once ``write`` returns.

    Whoever reads a journal to go on with it puts a segment behind the last. A dispatcher that had it before
    finds that name taken when it wants to write, or looks, and ends.

    Args:
      shelf: where the segments lie; the store closes it.
      shorten: makes few records of many that fold to the same state; without it, nothing is compacted.
    """

    def __init__(self, shelf: Shelf, shorten: Shorten | None = None) -> None:
        self._shelf = shelf
        self._shorten = shorten
        self._owner = f"process {os.getpid()} on {socket.gethostname()}, {secrets.token_hex(8)}"
        self._number = 0
        self._records = 0
        self._checksum = 0
        self._compactor: Compactor | None = None

    def read(self) -> Sequence[Update]:
        """All records that fold to the state, in order; from now on the journal is this store's.

        Raises:
          OpError: if the journal cannot be had, or is damaged.
        """
        for _ in range(TRIES):
            try:
                found = read_journal(self._shelf)
            except NotFoundError:
                continue
            self._number, self._records, self._checksum = found.number, found.records, found.checksum
            self._shelf.put(str(Life(found.number + 1)), b"")
            if not self._put(()):
                continue
            if self._shorten is not None:
                life = self._number
                kept = Kept(found.updates, found.snapshot, life)
                self._compactor = Compactor(self._shelf, self._shorten, kept, life, self._owner)
            return found.updates
        raise UnavailableError(
            message=f"other dispatchers keep changing the journal in {self._shelf.where}. Let only one of them run."
        )

    def write(self, updates: Sequence[Update]) -> None:
        """Adds records as one segment.

        Raises:
          FailedPreconditionError: if another dispatcher has taken over.
        """
        if not self._put(tuple(updates)):
            raise self._fenced()
        if self._compactor is not None:
            self._compactor.add(updates, self._number, self._records, self._checksum)

    def check(self) -> None:
        """Looks whether the journal is still there, and this store's.

        Raises:
          FailedPreconditionError: if another dispatcher has taken over.
          UnavailableError: if it is gone.
        """
        if self._shelf.has(str(Log(self._number + 1))):
            raise self._fenced()

    def close(self) -> None:
        """Lets another dispatcher have the shelf, where only one can have it."""
        if self._compactor is not None:
            self._compactor.stop()
        self._shelf.close()

    def _put(self, updates: tuple[Update, ...]) -> bool:
        segment = Segment(self._number + 1, self._records, self._checksum, self._owner, updates)
        name, body = str(Log(segment.number)), encode_segment(segment)
        # A put that is tried again since its answer was lost finds its own object.
        if not self._shelf.put(name, body) and next(self._shelf.get([name])) != body:
            return False
        self._number, self._records, self._checksum = segment.number, segment.first + len(updates), checksum(body)
        return True

    def _fenced(self) -> FailedPreconditionError:
        by = "another dispatcher"
        try:
            (body,) = self._shelf.get([str(Log(self._number + 1))])
            by += f" ({decode_segment(body).owner})"
        except (DataLossError, NotFoundError):
            pass
        return FailedPreconditionError(
            message=f"{by} has taken over the journal in {self._shelf.where}. This one has stopped serving; let only "
            "one dispatcher use a work_dir."
        )
