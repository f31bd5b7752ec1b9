"""``Dataset.map``: a function of each element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfsvc.columns import Columns
from tfsvc.data.elements import are_leaves
from tfsvc.data.functions import (
    Vectorized,
    as_result,
    call_for_columns,
    call_for_each,
    call_for_element,
    call_for_examples,
    check_arguments,
)
from tfsvc.data.operator import Context, Operator, OperatorIterator, UnaryOperator
from tfsvc.data.ops.function_input import FunctionInput, Results
from tfsvc.data.stacking import columns_of, count_alike, cut, is_regular, stacked, to_columns


@dataclass(frozen=True, eq=False)
class Map(UnaryOperator):
    """``function(element)`` for each element; one whose function fails is missing."""

    function: Callable[..., Any]
    name = "map"
    shards_by_file = True

    @property
    def spec_is_given(self) -> bool:
        return False

    def iterator(self, context: Context) -> OperatorIterator:
        if isinstance(self.function, Vectorized):
            return _VectorizedMapIterator(self.function, self.input.iterator(context))
        return _MapIterator(self.function, self.input.iterator(context))

    def try_function(self) -> None:
        # Any result is good, so the function need not run before it must.
        check_arguments(self.function, self.input.examples()[0])

    def _make_spec(self) -> Any:
        return Operator._make_spec(self)

    def _make_examples(self) -> tuple[Any, ...]:
        return call_for_examples(lambda example: _apply(self.function, example), self.input.examples())


def _apply(function: Callable[..., Any], element: Any) -> Any:
    if isinstance(function, Vectorized):
        return call_for_columns(function, to_columns([element])).element(0)
    return call_for_element(function, element)


class _MapIterator(OperatorIterator):
    """``_made`` holds results of a block that are not of the structure of those before them."""

    def __init__(self, function: Callable[..., Any], input: OperatorIterator) -> None:
        self._function = function
        self._input = FunctionInput(input)
        self._made: list[Any] = []

    def next(self) -> Any:
        return self._made.pop(0) if self._made else call_for_element(self._function, self._input.next())

    def block(self, limit: int) -> Columns | None:
        if self._made:
            return None
        found = self._input.block(limit, self._call)
        if found is None:
            return None
        _, results = found
        count = count_alike(results)
        self._made = results[count:]
        return columns_of(results[:count])

    def _call(self, columns: Columns) -> Results:
        return call_for_each(self._function, columns, as_result, are_leaves)

    def save(self) -> Any:
        return list(self._made), self._input.save()

    def load(self, state: Any) -> None:
        made, input = state
        self._made = list(made)
        self._input.load(input)


class _VectorizedMapIterator(OperatorIterator):
    """Elements that the function does not take all at once are held, and then taken one by one."""

    def __init__(self, function: Vectorized, input: OperatorIterator) -> None:
        self._function = function
        self._input = input
        self._held: Columns | None = None

    def next(self) -> Any:
        return _apply(self._function, self._next_input())

    def _next_input(self) -> Any:
        if self._held is None:
            return self._input.next()
        first, rest = self._held.element(0), cut(self._held, 1, self._held.count)
        self._held = rest if rest.count else None
        return first

    def block(self, limit: int) -> Columns | None:
        if self._held is not None:
            return None
        columns = self._input.block(limit)
        if columns is None:
            return None
        columns = stacked(columns)
        if is_regular(columns):
            try:
                return call_for_columns(self._function, columns)
            except Exception:
                if columns.count == 1:
                    raise
        self._held = columns
        return None

    def save(self) -> Any:
        return self._held, self._input.save()

    def load(self, state: Any) -> None:
        self._held, input = state
        self._input.load(input)
