"""Splits: how the input of a dataset is cut into pieces that are handed out one by one.

A dataset has one split provider per source, in TensorFlow's order (``zip`` lists its inputs one
after the other). A provider is pure data, so the dispatcher never runs user code to hand out work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tfsvc.record import record


@record
class SplitPlan:
    """The splits of one source: ``count`` values ``start + i * step``; endless when ``count`` is ``None``.

    Our own workers are told the positions ``i``; TensorFlow's are told the values (for a range the
    number itself, for slices and files the index).
    """

    count: int | None
    start: int = 0
    step: int = 1

    def value(self, position: int) -> int:
        return self.start + position * self.step


class Span(NamedTuple):
    """Positions ``lo <= i < hi`` of one provider."""

    lo: int
    hi: int

    @property
    def size(self) -> int:
        return self.hi - self.lo


class SplitPosition(NamedTuple):
    """How far one provider of one lane has been read: ``offset`` splits of ``repetition`` are consumed."""

    repetition: int
    offset: int


ORIGIN = SplitPosition(0, 0)


@record
class Lease:
    """Splits of one provider that belong to a lane.

    Attributes:
      at: the lane's position of the first of them.
      ended: the repetition has no splits behind these.
    """

    provider: int = 0
    at: SplitPosition = ORIGIN
    spans: tuple[Span, ...] = ()
    ended: bool = False

    @property
    def size(self) -> int:
        size = 0
        for lo, hi in self.spans:
            size += hi - lo
        return size

    @property
    def end(self) -> int:
        """The lane's offset behind the last of them."""
        return self.at.offset + self.size


@record
class Checkpoint:
    """Where a pipeline can start again: it has given ``ordinal`` elements and read up to ``positions``.

    ``state`` is opaque here; empty means a fresh pipeline, which is all that operators need which keep
    nothing between splits. ``run`` counts the blocks that an ordered lane was dealt before.
    """

    ordinal: int = 0
    positions: tuple[SplitPosition, ...] = ()
    state: bytes = b""
    run: int = 0


class Starved(Exception):  # noqa: N818  (a state of affairs, as StopIteration is)
    """A source has no split at hand: more must be leased before the pipeline can go on.

    Iterators let it pass and keep what they have, so that asking again goes on where they were.
    """

    def __init__(self, provider: int, at: SplitPosition) -> None:
        super().__init__(provider, at)
        self.provider = provider
        self.at = at


class SplitFeed:
    """The splits of one provider that one pipeline may consume, in the order they were leased.

    Args:
      provider: the provider's place in the dataset's list.
      at: where the pipeline starts to read.
    """

    def __init__(self, provider: int, at: SplitPosition = ORIGIN) -> None:
        self.provider = provider
        self.at = at
        self._spans: dict[int, list[Span]] = {}
        self._first: dict[int, int] = {at.repetition: at.offset}
        self._ended: set[int] = set()

    def add(self, lease: Lease) -> None:
        """Takes leased splits; those it was given before are passed over."""
        repetition = lease.at.repetition
        skip = self.end_of(repetition) - lease.at.offset
        assert skip >= 0, "a lease left a gap"
        for span in lease.spans:
            cut = min(skip, span.size)
            skip -= cut
            if span.lo + cut < span.hi:
                self._spans.setdefault(repetition, []).append(Span(span.lo + cut, span.hi))
        if lease.ended:
            self._ended.add(repetition)

    def end_of(self, repetition: int) -> int:
        """How many splits of ``repetition`` have been leased so far, consumed ones included."""
        return self._first.get(repetition, 0) + sum(span.size for span in self._spans.get(repetition, ()))

    def has_end_of(self, repetition: int) -> bool:
        return repetition in self._ended

    @property
    def ahead(self) -> int:
        """Splits at hand that the pipeline has not consumed yet."""
        return self.end_of(self.at.repetition) - self.at.offset

    def next(self) -> int:
        """The next split's position in its source.

        Raises:
          StopIteration: at the end of the repetition.
          Starved: when more must be leased first.
        """
        spans = self._spans.get(self.at.repetition)
        if not spans:
            if self.at.repetition in self._ended:
                raise StopIteration
            raise Starved(self.provider, self.at)
        lo, hi = spans[0]
        if lo + 1 == hi:
            del spans[0]
        else:
            spans[0] = Span(lo + 1, hi)
        self.at = SplitPosition(self.at.repetition, self.at.offset + 1)
        self._first[self.at.repetition] = self.at.offset
        return lo

    def take_span(self, limit: int) -> Span:
        """Up to ``limit`` consecutive splits at once; raises like :meth:`next`."""
        first = self.next()
        spans = self._spans.get(self.at.repetition)
        if limit <= 1 or not spans or spans[0].lo != first + 1:
            return Span(first, first + 1)
        more = min(limit - 1, spans[0].size)
        lo, hi = spans[0]
        if more == hi - lo:
            del spans[0]
        else:
            spans[0] = Span(lo + more, hi)
        self.at = SplitPosition(self.at.repetition, self.at.offset + more)
        self._first[self.at.repetition] = self.at.offset
        return Span(first, first + 1 + more)

    def reset(self) -> None:
        """Goes on to the next repetition; what is left of this one is dropped, as TensorFlow does."""
        self._spans.pop(self.at.repetition, None)
        self._first.pop(self.at.repetition, None)
        self.at = SplitPosition(self.at.repetition + 1, 0)
        self._first.setdefault(self.at.repetition, 0)


def merge_spans(spans: Iterable[Span]) -> Iterator[Span]:
    """The same positions in the same order with neighbours joined."""
    last: Span | None = None
    for span in spans:
        if last is not None and last.hi == span.lo:
            last = Span(last.lo, span.hi)
            continue
        if last is not None:
            yield last
        last = span
    if last is not None:
        yield last


def has_position(spans: tuple[Span, ...], position: int) -> bool:
    """Whether one of the spans holds the position."""
    return any(lo <= position < hi for lo, hi in spans)


def left_of(plan: SplitPlan, given: int) -> int | None:
    """How many splits of a repetition were not handed out yet; ``None`` where there is no end."""
    return None if plan.count is None else max(0, plan.count - given)


def grant(plan: SplitPlan, given: int, at: SplitPosition, provider: int, size: int) -> Lease:
    """The next splits of a source for one of those who share it.

    Args:
      given: how many of this repetition were handed out before.
      at: where the lease begins in its lane.
      size: how many are leased; at least one, if there is one, and no more than are left.
    """
    left = left_of(plan, given)
    size = max(1, size) if left is None else min(max(1, size), left)
    spans = (Span(given, given + size),) if size else ()
    return Lease(provider, at, spans, plan.count is not None and given + size >= plan.count)


def extended(have: Lease | None, more: Lease) -> Lease:
    """One lease with the splits of both, of which ``more`` begins where ``have`` ends."""
    assert more.at.offset == (0 if have is None else have.end), "leases of a lane leave no gap"
    if have is None:
        return more
    before, behind = have.spans, more.spans
    if before and behind and before[-1].hi == behind[0].lo:
        before, behind = (*before[:-1], Span(before[-1].lo, behind[0].hi)), behind[1:]
    return Lease(have.provider, have.at, before + behind, more.ended)


def cut(lease: Lease, offset: int) -> Lease:
    """The lease without its splits before the lane's position ``offset``."""
    if offset == lease.at.offset:
        return lease
    skip = max(0, offset - lease.at.offset)
    spans: list[Span] = []
    for span in lease.spans:
        size = span.hi - span.lo
        if skip >= size:
            skip -= size
        else:
            spans.append(Span(span.lo + skip, span.hi) if skip else span)
            skip = 0
    return Lease(lease.provider, SplitPosition(lease.at.repetition, offset), tuple(spans), lease.ended)
