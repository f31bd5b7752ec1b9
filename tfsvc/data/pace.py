"""How many elements to ask an iterator for at once."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter_ns
from typing import Any, Final

from tfsvc.data.operator import OperatorIterator

_NS: Final = 1_000_000
_BYTES: Final = 1 << 18
_ELEMENTS: Final = 1 << 11


class Pace:
    """Blocks of about a millisecond's work and at most about 256 KiB, beginning with one element.

    So functions run ahead of the reader by a millisecond, and slow or large elements come one by one.
    """

    def __init__(self) -> None:
        self._limit = 1

    def rows(self, iterator: OperatorIterator) -> Iterator[Any]:
        """One or more next elements, in an iterator that says how many are left; raises as ``iterator.next``."""
        started = perf_counter_ns()
        block = iterator.block(self._limit)
        if block is None:
            return iter([iterator.next()])
        spent = perf_counter_ns() - started
        size = block.nbytes
        if spent > _NS or size > _BYTES:
            self._limit = max(1, self._limit // 2)
        elif spent < _NS // 2 and size < _BYTES // 2:
            self._limit = min(2 * self._limit, _ELEMENTS)
        rows = block.elements()
        # Those of a list or an array say so; an array's are made when they are taken, in a cache that is still warm.
        return rows if hasattr(rows, "__length_hint__") else iter(list(rows))
