"""A pipeline that makes nothing: it counts elements and says how long they would have taken.

The machines above it are the real ones; so leases, checkpoints, frames and buffers are as in any run.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from tfsvc.protocol.contract import Produce
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.production import Encoding, Ended, Hungry, Production, Ready, Recipe
from tfsvc.protocol.splits import Checkpoint, Span, SplitFeed, SplitPosition, Starved
from tfsvc_sim.research.costs import Prices

SLICE_NS: Final = 20 * MILLISECOND
"""As long as the real runner runs a pipeline before it hands over what there is."""
CHECKPOINT_EVERY: Final = 256
_PART: Final = struct.Struct("<QQ")


class Ballast(bytes):
    """The body of a frame: which elements it stands for. It weighs what they would."""

    weight: int

    def __new__(cls, parts: Sequence[Span], weight: int) -> Ballast:
        made = super().__new__(cls, b"".join(_PART.pack(*part) for part in parts))
        made.weight = weight
        return made

    def __len__(self) -> int:
        return self.weight

    def __bytes__(self) -> bytes:
        return self

    def parts(self) -> list[Span]:
        """The elements, in order."""
        return [Span(*pair) for pair in _PART.iter_unpack(memoryview(self))]


class Pipeline:
    """One pipeline.

    Args:
      recipe: with leased splits, or without any, where it makes all elements itself, over and over.
      layout: the elements of each split.
    """

    def __init__(self, recipe: Recipe, layout: Sequence[Span], prices: Prices, element_bytes: int) -> None:
        start = recipe.checkpoint
        self._layout = layout
        self._prices = prices
        self._element_bytes = element_bytes
        self._single = recipe.encoding is Encoding.ELEMENTS
        self._feed = SplitFeed(0, start.positions[0] if start.positions else SplitPosition(0, 0))
        self._leased = recipe.providers > 0
        self._ordinal = start.ordinal
        self._next_checkpoint = start.ordinal + CHECKPOINT_EVERY
        self._begin = self._at = self._end = 0
        self._skip = int.from_bytes(start.state, "little")
        self._own = 0

    def run(self, command: Produce) -> tuple[Production, int]:
        """As much as fits a frame and a slice of time; and what it took a usual worker, in nanoseconds."""
        for lease in command.leases:
            self._feed.add(lease)
        room = max(1, min(command.elements_max, command.bytes_max // self._element_bytes))
        parts: list[Span] = []
        spent = 0
        status: Ready | Hungry | Ended = Ready()
        while room and spent < SLICE_NS:
            if self._at == self._end:
                try:
                    spent += self._open()
                except StopIteration:
                    status = Ended()
                    break
                except Starved as starved:
                    status = Hungry(starved.provider, starved.at)
                    break
            count, took = self._some(room, SLICE_NS - spent)
            parts.append(Span(self._at, self._at + count))
            self._at += count
            room -= count
            spent += took
        frames = self._frames(parts)
        return Production(frames, status, (self._feed.at,), self._checkpoint(status)), spent

    def _open(self) -> int:
        """Begins the next split; what that takes."""
        position = self._feed.next() if self._leased else self._own % len(self._layout)
        self._own += 1
        lo, hi = self._layout[position]
        self._begin, self._at, self._end = lo, min(lo + self._skip, hi), hi
        self._skip = 0
        return self._prices.open_ns(lo)

    def _some(self, room: int, time_ns: int) -> tuple[int, int]:
        """How many elements there is room and time for, one at least, and what they take."""
        room = min(room, self._end - self._at)
        fixed = self._prices.fixed_ns
        if fixed is not None:
            count = min(room, -(-time_ns // fixed)) if fixed else room
            return count, count * fixed
        spent = 0
        for count in range(room):
            if spent >= time_ns and count:
                return count, spent
            spent += self._prices.element_ns(self._at + count)
        return room, spent

    def _frames(self, parts: list[Span]) -> tuple[Frame, ...]:
        if self._single:
            parts = [Span(i, i + 1) for part in parts for i in range(*part)]
            made = tuple(
                Frame(self._ordinal + i, 1, Ballast((part,), self._element_bytes)) for i, part in enumerate(parts)
            )
            self._ordinal += len(made)
            return made
        count = sum(part.size for part in parts)
        if not count:
            return ()
        self._ordinal += count
        return (Frame(self._ordinal - count, count, Ballast(parts, count * self._element_bytes)),)

    def _checkpoint(self, status: Ready | Hungry | Ended) -> Checkpoint | None:
        """Where it could go on: in the midst of a split, how much of that is done is its state."""
        if not self._leased or isinstance(status, Ended) or self._ordinal < self._next_checkpoint:
            return None
        self._next_checkpoint = self._ordinal + CHECKPOINT_EVERY
        at = self._feed.at
        if self._at == self._end:
            return Checkpoint(self._ordinal, (at,))
        done = (self._at - self._begin).to_bytes(8, "little")
        return Checkpoint(self._ordinal, (SplitPosition(at.repetition, at.offset - 1),), done)
