"""The elements of a shard that belong to one lane: those whose numbers were leased to it."""

from __future__ import annotations

from typing import Any

from tfsvc.columns import Columns
from tfsvc.data.operator import OperatorIterator
from tfsvc.protocol.splits import Span, SplitFeed, Starved


class LeasedElements(OperatorIterator):
    """Elements of ``input`` whose numbers come out of ``feed``; the others are made and dropped.

    An element that fails has a number too.

    Args:
      input: the shard, whole.
      feed: numbers in ascending order.
    """

    def __init__(self, input: OperatorIterator, feed: SplitFeed) -> None:
        self._input = input
        self._feed = feed
        self._made = 0
        self._wanted: Span | None = None

    def next(self) -> Any:
        wanted = self._reach(1)
        # Not before the input has spoken: where it has to wait for something, the element is still to come.
        try:
            element = self._input.next()
        except (StopIteration, Starved):
            raise
        except Exception:
            self._advance(wanted, 1)
            raise
        self._advance(wanted, 1)
        return element

    def block(self, limit: int) -> Columns | None:
        wanted = self._reach(limit)
        try:
            columns = self._input.block(min(limit, wanted.size))
        except (StopIteration, Starved):
            raise
        except Exception:
            self._advance(wanted, 1)
            raise
        if columns is not None:
            self._advance(wanted, columns.count)
        return columns

    def _reach(self, limit: int) -> Span:
        """The numbers to make next, when all before them have been made."""
        if self._wanted is None:
            self._wanted = self._feed.take_span(limit)
        while self._made < self._wanted.lo:
            self._pass_over(self._wanted.lo - self._made)
        return self._wanted

    def _pass_over(self, count: int) -> None:
        try:
            columns = self._input.block(count)
            if columns is None:
                self._input.next()
        except (StopIteration, Starved):
            raise
        except Exception:
            # It is told in the lane that it belongs to.
            self._made += 1
        else:
            self._made += 1 if columns is None else columns.count

    def _advance(self, wanted: Span, count: int) -> None:
        self._made += count
        self._wanted = Span(wanted.lo + count, wanted.hi) if count < wanted.size else None

    def save(self) -> Any:
        return self._made, self._wanted, self._input.save()

    def load(self, state: Any) -> None:
        self._made, self._wanted, input = state
        self._input.load(input)
