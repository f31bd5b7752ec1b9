"""``Dataset.filter``: the elements of which a predicate is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfsvc.data.functions import call_for_truth
from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, UnaryOperator


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


class _FilterIterator(OperatorIterator):
    def __init__(self, filter: Filter, context: Context) -> None:
        self._function = filter.function
        self._input = filter.input.iterator(context)

    def next(self) -> Any:
        while True:
            element = self._input.next()
            if call_for_truth(self._function, element):
                return element

    def save(self) -> Any:
        return self._input.save()

    def load(self, state: Any) -> None:
        self._input.load(state)
