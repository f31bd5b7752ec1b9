"""The trace: every event of a run in a line, with its cause; its hash stands for the whole run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import zip_longest
from typing import Final, NamedTuple

from tfsvc.protocol.ids import MILLISECOND, Instant
from tfsvc_sim.nodes.observing import Observer

_BLOCK: Final = 512
"""Lines hashed at once."""


class Entry(NamedTuple):
    """One event.

    Attributes:
      id: its number in the run, from 1 on.
      at: simulated nanoseconds.
      where: the node, as ``name.incarnation``.
      what: a few words.
      cause: the event that led to it, 0 for none.
    """

    id: int
    at: Instant
    where: str
    what: str
    cause: int

    def __str__(self) -> str:
        return f"{self.at / MILLISECOND:10.3f} ms  {self.where:<14} {self.what}"


class Trace:
    """Numbers events, hashes them, and keeps them when asked to.

    Args:
      keep: whether entries stay for people to read; the hash is the same either way.
    """

    def __init__(self, keep: bool = False) -> None:
        self.entries: list[Entry] = []
        self.count = 0
        self.now_at = 0
        """The event that is being handled: the cause of whatever is said now."""
        self.observer: Observer | None = None
        """Is told by nodes what they do."""
        self.keep = keep
        self._hash = hashlib.sha256()
        self._lines: list[str] = []

    def event(self, at: Instant, where: str, what: str, cause: int) -> int:
        """Notes an event and returns its number."""
        count = self.count = self.count + 1
        self._lines.append(f"{at} {where} {what} {cause}\n")
        if not count % _BLOCK:
            self._flush()
        if self.keep:
            self.entries.append(Entry(count, at, where, what, cause))
        return count

    def digest(self) -> str:
        """Of all events so far, 64 hexadecimal digits."""
        self._flush()
        return self._hash.hexdigest()

    def story(self, event: int) -> list[Entry]:
        """The chain of causes that ends in ``event``, oldest first; needs ``keep``."""
        chain: list[Entry] = []
        while event and event <= len(self.entries):
            chain.append(self.entries[event - 1])
            event = chain[-1].cause
        return chain[::-1]

    def _flush(self) -> None:
        self._hash.update("".join(self._lines).encode())
        self._lines.clear()


def first_divergence(one: Iterable[Entry], other: Iterable[Entry]) -> tuple[Entry | None, Entry | None] | None:
    """The first place where two traces differ; ``None`` when they are the same."""
    for a, b in zip_longest(one, other):
        if a != b:
            return a, b
    return None
