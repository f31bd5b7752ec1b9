"""Random floats as TensorFlow's ``tf.random.uniform`` gives them inside the functions of a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.operator import INFINITE, Context, OperatorIterator, SourceOperator
from tfsvc.data.ops.cursor import Cursor, CursorIterator
from tfsvc.data.philox import halves, philox
from tfsvc.protocol.splits import SplitPlan
from tfsvc.random import Seeds
from tfsvc.specs import TensorSpec

_RESERVED: Final = 256
"""Counters that each call sets aside, of which it uses one."""


@dataclass(frozen=True, eq=False)
class Uniform(SourceOperator):
    """float32 scalars ``0 <= x < 1`` without end; number ``i`` is a pure function of ``i`` and the seeds."""

    seeds: Seeds
    name = "uniform"

    def cardinality(self) -> int:
        return INFINITE

    def plans(self) -> tuple[SplitPlan, ...]:
        return (SplitPlan(None),)

    def iterator(self, context: Context) -> OperatorIterator:
        return _UniformIterator(self, context)

    def numbers(self, lo: int, hi: int) -> Any:
        """The numbers ``lo <= i < hi`` as an array."""
        at = np.arange(lo, hi, dtype=np.uint64) * np.uint64(_RESERVED)
        counters = (at & np.uint64(0xFFFFFFFF), at >> np.uint64(32), *halves(self.seeds[1]))
        words, _, _, _ = philox(counters, halves(self.seeds[0]))
        return (words & np.uint64(0x7FFFFF)).astype(np.float32) * np.float32(2.0**-23)

    def _make_spec(self) -> Any:
        return TensorSpec((), "float32")

    def _make_examples(self) -> tuple[Any, ...]:
        return (np.float32(0), np.float32(0.5))


class _UniformIterator(CursorIterator):
    def __init__(self, uniform: Uniform, context: Context) -> None:
        self._uniform = uniform
        super().__init__(Cursor(None, context.feed))

    def next(self) -> Any:
        return self.block(1).element(0)

    def block(self, limit: int) -> Columns:
        lo, hi = self._cursor.span(limit)
        return Columns(0, (self._uniform.numbers(lo, hi),), hi - lo)
