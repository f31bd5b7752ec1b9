"""``Dataset.filter``: the elements of which a predicate is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc.data.functions import call_for_element
from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, UnaryOperator
from tfsvc.specs import spec_of


@dataclass(frozen=True, eq=False)
class Filter(UnaryOperator):
    """The elements for which ``function`` gives a true ``bool`` scalar."""

    function: Callable[..., Any]
    name = "filter"

    def cardinality(self) -> int:
        return UNKNOWN

    def iterator(self, context: Context) -> OperatorIterator:
        return _FilterIterator(self, context)


class _FilterIterator(OperatorIterator):
    def __init__(self, filter: Filter, context: Context) -> None:
        self._function = filter.function
        self._input = filter.input.iterator(context)

    def next(self) -> Any:
        while True:
            element = self._input.next()
            if _truth(call_for_element(self._function, element)):
                return element

    def save(self) -> Any:
        return self._input.save()

    def load(self, state: Any) -> None:
        self._input.load(state)


def _truth(result: Any) -> bool:
    if not isinstance(result, np.bool_):
        found = type(result).__name__ if isinstance(result, (tuple, dict)) else repr(spec_of(result))
        raise ValueError(
            f"Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is {found}."
        )
    return bool(result)
