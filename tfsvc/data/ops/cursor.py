"""The places a source reads: its split feed's, or simply all of them in order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfsvc.columns import Columns
from tfsvc.data.operator import Context, OperatorIterator, SourceOperator
from tfsvc.protocol.splits import Span, SplitFeed


class Cursor:
    """Gives each position of a source once.

    Args:
      count: how many positions there are; ``None`` where they have no end.
      feed: the splits to read, or ``None`` to read them all.
    """

    def __init__(self, count: int | None, feed: SplitFeed | None) -> None:
        self._count = count
        self._feed = feed
        self._index = 0

    def next(self) -> int:
        """The next position; raises ``StopIteration`` at the end and ``Starved`` as the feed does."""
        if self._feed is not None:
            return self._feed.next()
        index = self._index
        if self._count is not None and index >= self._count:
            raise StopIteration
        self._index = index + 1
        return index

    def span(self, limit: int) -> Span:
        """Up to ``limit`` neighbouring positions at once; raises as :meth:`next`."""
        if self._feed is not None:
            return self._feed.take_span(limit)
        if self._count is not None:
            limit = min(limit, self._count - self._index)
        if limit <= 0:
            raise StopIteration
        span = Span(self._index, self._index + limit)
        self._index = span.hi
        return span

    def save(self) -> int:
        return self._index

    def load(self, state: int) -> None:
        self._index = state


class CursorIterator(OperatorIterator):
    """Reads where its cursor stands, which is all of its progress; so it passes over elements without a look."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    def skip(self, limit: int) -> int:
        return self._cursor.span(limit).size

    def save(self) -> Any:
        return self._cursor.save()

    def load(self, state: Any) -> None:
        self._cursor.load(state)


@dataclass(frozen=True, eq=False)
class Indexed(SourceOperator):
    """A source of known length whose elements can be had in any order; a :class:`Cursor` says which."""

    @abstractmethod
    def at(self, places: Any) -> Columns:
        """The elements at one or more places, a sequence or vector of whole numbers."""

    def reader(self, context: Context) -> Callable[[Any], Columns]:
        """:meth:`at` for one pass."""
        return self.at
