"""``Dataset.map``: a function of each element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfsvc.data.functions import call_for_element
from tfsvc.data.operator import Context, Operator, OperatorIterator, UnaryOperator


@dataclass(frozen=True, eq=False)
class Map(UnaryOperator):
    """``function(element)`` for each element; one whose function fails is missing."""

    function: Callable[..., Any]
    name = "map"

    def iterator(self, context: Context) -> OperatorIterator:
        return _MapIterator(self, context)

    def _make_spec(self) -> Any:
        return Operator._make_spec(self)

    def _make_examples(self) -> tuple[Any, ...]:
        return tuple(call_for_element(self.function, example) for example in self.input.examples())


class _MapIterator(OperatorIterator):
    def __init__(self, map: Map, context: Context) -> None:
        self._function = map.function
        self._input = map.input.iterator(context)

    def next(self) -> Any:
        return call_for_element(self._function, self._input.next())

    def save(self) -> Any:
        return self._input.save()

    def load(self, state: Any) -> None:
        self._input.load(state)
