"""``Dataset.take_while``: the elements before the first of which a predicate is false."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfsvc.data.functions import call_for_truth
from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, UnaryOperator


@dataclass(frozen=True, eq=False)
class TakeWhile(UnaryOperator):
    """The elements before the first for which ``function`` gives a false ``bool`` scalar."""

    function: Callable[..., Any]
    name = "take_while"

    def cardinality(self) -> int:
        return UNKNOWN

    def try_function(self) -> None:
        call_for_truth(self.function, self.input.examples()[0])

    def iterator(self, context: Context) -> OperatorIterator:
        return _TakeWhileIterator(self, context)


class _TakeWhileIterator(OperatorIterator):
    def __init__(self, take_while: TakeWhile, context: Context) -> None:
        self._function = take_while.function
        self._input = take_while.input.iterator(context)
        self._ended = False

    def next(self) -> Any:
        if not self._ended:
            element = self._input.next()
            if call_for_truth(self._function, element):
                return element
            self._ended = True
        raise StopIteration

    def save(self) -> Any:
        return self._ended, self._input.save()

    def load(self, state: Any) -> None:
        self._ended, input = state
        self._input.load(input)
