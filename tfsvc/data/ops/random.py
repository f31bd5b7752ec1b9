"""``Dataset.random``: random numbers without end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.operator import INFINITE, Context, OperatorIterator, SourceOperator
from tfsvc.data.ops.cursor import Cursor, CursorIterator
from tfsvc.protocol.splits import SplitPlan
from tfsvc.random import Seeds
from tfsvc.specs import TensorSpec


@dataclass(frozen=True, eq=False)
class Random(SourceOperator):
    """int64 scalars ``0 <= x < 2**32``.

    Number ``i`` is a pure function of ``i``, the seeds and, with
    ``rerandomize``, the pass. So a split is one number, and workers divide the sequence among them.
    """

    seeds: Seeds
    rerandomize: bool
    name = "random"

    def cardinality(self) -> int:
        return INFINITE

    def plans(self) -> tuple[SplitPlan, ...]:
        return (SplitPlan(None),)

    def iterator(self, context: Context) -> OperatorIterator:
        return _RandomIterator(self, context)

    def _make_spec(self) -> Any:
        return TensorSpec((), "int64")

    def _make_examples(self) -> tuple[Any, ...]:
        return (np.int64(0), np.int64(1))


class _RandomIterator(CursorIterator):
    def __init__(self, random: Random, context: Context) -> None:
        self._luck = context.luck(random.seeds, random.rerandomize)
        super().__init__(Cursor(None, context.feed))

    def _numbers(self, lo: int, hi: int) -> Any:
        self._luck.place = lo
        return self._luck.take(hi - lo).astype(np.int64)

    def next(self) -> Any:
        place = self._cursor.next()
        return self._numbers(place, place + 1)[0]

    def block(self, limit: int) -> Columns:
        lo, hi = self._cursor.span(limit)
        return Columns(0, (self._numbers(lo, hi),), hi - lo)
