"""Compaction: a journal's records are said again in few, beside the dispatcher, so that recovery stays short.

It never asks the dispatcher anything: it folds the records that have become durable, as a recovery would, on a
thread of its own, and puts what that comes to as a snapshot. Only when all of it is there do the records go.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final

from tfsvc.errors import OpError
from tfsvc.protocol.updates import Update
from tfsvc.wire.segments import Part, Segment, encode_segment, plan
from tfsvc_transports.shelf import Shelf

LOG = logging.getLogger("tfsvc")

Shorten = Callable[[Iterable[Update]], Iterator[Update]]
"""Makes few records of many that fold to the same state."""

DUE: Final = 20_000
"""A snapshot is due when reading what is behind the last costs as much as this many records, and as much as it."""
SEGMENT_COST: Final = 10
"""As many records as it takes to read a segment."""
PART: Final = 1_000
"""How many records a part of a snapshot holds."""


@dataclass(slots=True)
class Kept:
    """What the journal holds.

    Attributes:
      updates: records that fold to the same state.
      snapshot: how many records its snapshot has.
      tail: how many lie behind it.
      segments: in how many segments.
    """

    updates: list[Update]
    snapshot: int
    tail: int
    segments: int

    @property
    def due(self) -> bool:
        return self.tail + SEGMENT_COST * self.segments >= max(DUE, self.snapshot)


class Compactor:
    """Compacts one journal while one life of a dispatcher writes it.

    Args:
      shelf: where the segments lie.
      kept: what the journal held when this life began.
      life: the number of the first segment of this life, which makes the names of its snapshots its own.
      owner: who writes them.
    """

    def __init__(self, shelf: Shelf, shorten: Shorten, kept: Kept, life: int, owner: str) -> None:
        self._shelf = shelf
        self._shorten = shorten
        self._kept = kept
        self._life = life
        self._owner = owner
        self._new: list[Update] = []
        self._segments = 0
        self._stopped = False
        self._thread: threading.Thread | None = None

    def add(self, updates: Sequence[Update], number: int, records: int, checksum: int) -> None:
        """Takes note of a durable segment; called by the thread that writes.

        Args:
          number: of the segment.
          records: how many there were up to its end.
          checksum: of the segment.
        """
        self._new.extend(updates)
        self._segments += 1
        if self._thread is not None and self._thread.is_alive():
            return
        self._kept.updates.extend(self._new)
        self._kept.tail += len(self._new)
        self._kept.segments += self._segments
        self._new.clear()
        self._segments = 0
        if self._kept.due and not self._stopped:
            arguments = (number, records, checksum)
            thread = threading.Thread(target=self._run, args=arguments, name="tfsvc-compaction", daemon=True)
            with suppress(RuntimeError):  # the interpreter is ending
                thread.start()
                self._thread = thread

    def stop(self) -> None:
        """Ends what is under way; nothing is lost by it."""
        self._stopped = True
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self, number: int, records: int, checksum: int) -> None:
        try:
            short = self._shorten(self._kept.updates)
            kept: list[Update] = []
            for place, (part, last) in enumerate(_parts(short)):
                if self._stopped:
                    return
                kept.extend(part)
                segment = Segment(number, records, checksum, self._owner, part)
                self._shelf.put(str(Part(number, self._life, place, last)), encode_segment(segment))
            self._kept = Kept(kept, len(kept), 0, 0)
            self._shelf.delete([str(name) for name in plan(self._shelf.names(), self._shelf.where).stale])
        except OpError as error:
            self._put_off(error.message)
        except Exception as error:
            self._put_off(f"{type(error).__name__}: {error} (an error of tfsvc's own)", exc_info=True)

    def _put_off(self, why: str, exc_info: bool = False) -> None:
        """Goes on without it: the journal has all its records. As many again must come before the next attempt."""
        self._kept = Kept(self._kept.updates, len(self._kept.updates), 0, 0)
        if not self._stopped:
            LOG.warning(
                "the journal in %s could not be compacted: %s. It is whole, but it grows, and recovery takes longer, "
                "until that succeeds; it is tried again when there are twice as many records",
                self._shelf.where,
                why,
                exc_info=exc_info,
            )


def _parts(updates: Iterator[Update]) -> Iterator[tuple[tuple[Update, ...], bool]]:
    """The updates in groups, and whether each is the last."""
    part = tuple(islice(updates, PART))
    while part:
        following = tuple(islice(updates, PART))
        yield part, not following
        part = following
