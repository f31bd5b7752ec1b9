"""``Dataset.filter``: the elements of which a predicate is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.functions import Called, as_truth, call_for_each, call_for_truth
from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, UnaryOperator
from tfsvc.data.ops.function_input import FunctionInput
from tfsvc.data.stacking import keep


@dataclass(frozen=True, eq=False)
class Filter(UnaryOperator):
    """The elements for which ``function`` gives a true ``bool`` scalar."""

    function: Callable[..., Any]
    name = "filter"
    shards_by_file = True

    def cardinality(self) -> int:
        return UNKNOWN

    def try_function(self) -> None:
        call_for_truth(self.function, self.input.examples()[0])

    def iterator(self, context: Context) -> OperatorIterator:
        return _FilterIterator(self, context)


_TRUTHS = frozenset({np.bool_, bool})


class _FilterIterator(OperatorIterator):
    def __init__(self, filter: Filter, context: Context) -> None:
        self._function = filter.function
        self._input = FunctionInput(filter.input.iterator(context))

    def next(self) -> Any:
        while True:
            element = self._input.next()
            if call_for_truth(self._function, element):
                return element

    def block(self, limit: int) -> Columns | None:
        while True:
            found = self._input.block(limit, self._call)
            if found is None:
                return None
            columns, called = found
            kept = keep(columns, called.results)
            if kept is not None:
                return kept

    def _call(self, columns: Columns) -> Called:
        return call_for_each(self._function, columns, _TRUTHS, self._make_truth)

    def _make_truth(self, made: list[Any]) -> None:
        made.append(as_truth(self._function, made.pop()))

    def save(self) -> Any:
        return self._input.save()

    def load(self, state: Any) -> None:
        self._input.load(state)
