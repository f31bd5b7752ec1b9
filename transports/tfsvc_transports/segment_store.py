"""The store of a journal: segments on a shelf, with one writer, and found again after it."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Iterator, Sequence
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
      updates: its records in order, those of the snapshot first, or what they were shortened to.
      snapshot: how many records its snapshot has.
      tail: how many lie behind it.
      logs: in how many segments.
      number: of the last segment; 0 for an empty journal.
      records: how many there were in its whole life.
      checksum: of the last segment.
      owner: who wrote it.
    """

    updates: list[Update]
    snapshot: int = 0
    tail: int = 0
    logs: int = 0
    number: int = 0
    records: int = 0
    checksum: int = 0
    owner: str = ""


def read_journal(shelf: Shelf, gather: Callable[[Iterator[Update]], list[Update]] = list) -> Found:
    """Reads and checks all of it.

    Args:
      gather: what is kept of the records, which come one by one.

    Raises:
      DataLossError: if it is damaged: a segment is missing, cut short, changed, or stands in another's place.
      NotFoundError: if a dispatcher compacts it at this moment; then it is read again.
    """
    found = Found([])

    def read() -> Iterator[Update]:
        nonlocal found
        objects = plan(shelf.names(), shelf.where)
        names: list[Log | Part] = [*objects.snapshot, *objects.logs]
        for name, body in zip(names, shelf.get([str(name) for name in names]), strict=True):
            found, updates = _next(found, name, body, shelf.where)
            yield from updates

    updates = gather(read())
    return found._replace(updates=updates)


def _next(found: Found, name: Log | Part, body: bytes, where: str) -> tuple[Found, tuple[Update, ...]]:
    """The journal with one more segment, and the records of that."""
    try:
        segment = decode_segment(body)
    except DataLossError as error:
        raise damaged(where, f"{name}: {error.message}") from error
    size = len(segment.updates)
    if isinstance(name, Part):
        # It says how many records the snapshot stands for, and the checksum of the last of their logs.
        first = not found.snapshot
        found = found._replace(snapshot=found.snapshot + size, number=name.number, owner=segment.owner)
        if first:
            found = found._replace(records=segment.first, checksum=segment.previous)
    elif name.number == found.number + 1:
        found = found._replace(number=name.number, owner=segment.owner, logs=found.logs + 1, tail=found.tail + size)
    if (segment.number, segment.first, segment.previous) != (found.number, found.records, found.checksum):
        raise damaged(where, f"{name} does not go on from what is before it")
    if isinstance(name, Log):
        found = found._replace(records=found.records + size, checksum=checksum(body))
    return found, segment.updates


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
        """Records that fold to the state, in order; from now on the journal is this store's.

        Raises:
          OpError: if the journal cannot be had, or is damaged.
        """
        for _ in range(TRIES):
            try:
                found = read_journal(self._shelf, self._gather)
            except NotFoundError:
                continue
            self._number, self._records, self._checksum = found.number, found.records, found.checksum
            self._shelf.put(str(Life(found.number + 1)), b"")
            if not self._put(()):
                continue
            if self._shorten is not None:
                kept = Kept(found.updates, found.snapshot, found.tail, found.logs)
                self._compactor = Compactor(self._shelf, self._shorten, kept, self._number, self._owner)
            return found.updates
        raise UnavailableError(
            message=f"other dispatchers keep changing the journal in {self._shelf.where}. Let only one of them run."
        )

    def _gather(self, updates: Iterator[Update]) -> list[Update]:
        """Nobody needs all records at once: there may be many more than what they come to."""
        return list(updates if self._shorten is None else self._shorten(updates))

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
