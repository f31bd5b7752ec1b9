"""The book: which elements were taken, and how often, in a byte for each."""

from __future__ import annotations

from tfsvc.protocol.splits import Span


class Book:
    """What the trainers of one job have taken of a source.

    Args:
      elements: how many the source has.
    """

    def __init__(self, elements: int) -> None:
        self.taken = 0
        self._seen = bytearray(elements)
        self._distinct = 0

    @property
    def repeated(self) -> int:
        """How many came again."""
        return self.taken - self._distinct

    @property
    def missing(self) -> int:
        """How many have not come."""
        return len(self._seen) - self._distinct

    def take(self, span: Span) -> None:
        """Somebody has taken these elements."""
        lo, hi = span
        self._distinct += self._seen.count(0, lo, hi)
        self.taken += hi - lo
        self._seen[lo:hi] = b"\1" * (hi - lo)
