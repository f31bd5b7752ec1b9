"""``Dataset.counter``: numbers at equal distances, without end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.operator import INFINITE, Context, OperatorIterator, SourceOperator
from tfsvc.data.ops.cursor import Cursor, CursorIterator
from tfsvc.protocol.splits import SplitPlan
from tfsvc.specs import DType, TensorSpec


@dataclass(frozen=True, eq=False)
class Counter(SourceOperator):
    """Scalars ``start, start + step, ...``; a split is one number, so workers divide the sequence among them."""

    start: float
    step: float
    dtype: DType
    name = "counter"

    def cardinality(self) -> int:
        return INFINITE

    def plans(self) -> tuple[SplitPlan, ...]:
        return (SplitPlan(None),)

    def iterator(self, context: Context) -> OperatorIterator:
        return _CounterIterator(self, context)

    def numbers(self, lo: int, hi: int) -> Any:
        """The numbers at the places ``lo <= i < hi`` as an array."""
        return (np.arange(lo, hi) * self.step + self.start).astype(self.dtype.numpy)

    def _make_spec(self) -> Any:
        return TensorSpec((), self.dtype)

    def _make_examples(self) -> tuple[Any, ...]:
        return tuple(self.numbers(0, 2))


class _CounterIterator(CursorIterator):
    def __init__(self, counter: Counter, context: Context) -> None:
        self._counter = counter
        super().__init__(Cursor(None, context.feed))

    def next(self) -> Any:
        place = self._cursor.next()
        return self._counter.numbers(place, place + 1)[0]

    def block(self, limit: int) -> Columns:
        lo, hi = self._cursor.span(limit)
        return Columns(0, (self._counter.numbers(lo, hi),), hi - lo)
