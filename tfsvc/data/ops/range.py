"""``Dataset.range``: numbers at equal distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.operator import Context, OperatorIterator
from tfsvc.data.ops.cursor import Cursor, CursorIterator, Indexed
from tfsvc.errors import InvalidArgumentError
from tfsvc.protocol.splits import SplitPlan
from tfsvc.specs import DType, TensorSpec


@dataclass(frozen=True, eq=False)
class Range(Indexed):
    """Scalars ``start, start + step, ...`` before ``stop``."""

    start: int
    stop: int
    step: int
    dtype: DType
    name = "range"

    def __post_init__(self) -> None:
        if self.step == 0:
            raise InvalidArgumentError(message="step must be a non-zero integer.")

    def cardinality(self) -> int:
        return len(range(self.start, self.stop, self.step))

    def plans(self) -> tuple[SplitPlan, ...]:
        return (SplitPlan(self.cardinality(), self.start, self.step),)

    def iterator(self, context: Context) -> OperatorIterator:
        return _RangeIterator(self, context)

    def at(self, places: Any) -> Columns:
        values = np.asarray(places, np.int64)
        if self.step != 1:
            values = values * self.step
        if self.start:
            values = values + self.start
        return Columns(0, (values.astype(self.dtype.as_numpy_dtype, copy=False),), len(places))

    def _make_spec(self) -> Any:
        return TensorSpec((), self.dtype)

    def _make_examples(self) -> tuple[Any, ...]:
        scalar = self.dtype.as_numpy_dtype
        return tuple(scalar(self.start + i * self.step) for i in range(max(1, min(2, self.cardinality()))))


class _RangeIterator(CursorIterator):
    def __init__(self, source: Range, context: Context) -> None:
        self._range = source
        self._scalar = source.dtype.as_numpy_dtype
        super().__init__(Cursor(source.cardinality(), context.feed))

    def next(self) -> Any:
        return self._scalar(self._range.start + self._cursor.next() * self._range.step)

    def block(self, limit: int) -> Columns:
        lo, hi = self._cursor.span(limit)
        return self._range.at(np.arange(lo, hi))
