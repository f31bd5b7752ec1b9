"""``Dataset.map``: a function of each element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.elements import PLAIN, PYTHONS, as_element, column_of
from tfsvc.data.functions import (
    Called,
    InProcesses,
    Vectorized,
    call_for_columns,
    call_for_each,
    call_for_element,
    call_for_examples,
    check_arguments,
    settle_last,
)
from tfsvc.data.operator import Context, Operator, OperatorIterator, UnaryOperator
from tfsvc.data.ops.function_input import FunctionInput
from tfsvc.data.seeded import Seeded
from tfsvc.data.stacking import Rows, count_alike, cut, is_regular, stacked, to_columns


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
        function, input = self.started(context)
        if isinstance(function, Vectorized):
            return _VectorizedMapIterator(function, input)
        return _MapIterator(function, input)

    def started(self, context: Context) -> tuple[Callable[..., Any], OperatorIterator]:
        """The function as it is called in one pass, and a pass over what it is called for."""
        function = self.unmarked
        if isinstance(function, Seeded):
            drawing = function.at(function.place(context, seeded_below(self)))
            return drawing, self.input.identified.iterator(context)
        return function, self.input.iterator(context)

    @property
    def unmarked(self) -> Callable[..., Any]:
        """The function without the mark that says where it runs."""
        return self.function.function if isinstance(self.function, InProcesses) else self.function

    def try_function(self) -> None:
        # Any result is good, so the function need not run before it must.
        function, example = self.unmarked, self.input.examples()[0]
        if isinstance(function, Seeded):
            check_arguments(function.function, example, rng=None)
        else:
            check_arguments(function, example)

    def _make_spec(self) -> Any:
        return Operator._make_spec(self)

    def _make_examples(self) -> tuple[Any, ...]:
        function, input = self.unmarked, self.input
        if isinstance(function, Seeded):
            function, input = function.at(0), input.identified
        return call_for_examples(lambda example: _apply(function, example), input.examples())


def seeded_below(operator: Operator) -> int:
    """How many seeded functions there are in what ``operator`` reads from."""
    return sum(
        seeded_below(below) + (isinstance(below, Map) and isinstance(below.unmarked, Seeded))
        for below in operator.inputs
    )


def _apply(function: Callable[..., Any], element: Any) -> Any:
    if isinstance(function, Vectorized):
        return call_for_columns(function, to_columns([element])).element(0)
    return call_for_element(function, element)


_UNCHANGING = PLAIN | PYTHONS


class _MapIterator(OperatorIterator):
    """``_made`` holds results of a block that cannot be columns with those before them, or one of which is refused."""

    def __init__(self, function: Callable[..., Any], input: OperatorIterator) -> None:
        self._function = function
        self._input = FunctionInput(input)
        self._made: list[Any] = []

    def next(self) -> Any:
        return as_element(self._made.pop(0)) if self._made else call_for_element(self._function, self._input.next())

    def block(self, limit: int) -> Columns | None:
        if self._made:
            return None
        found = self._input.block(limit, self._call)
        if found is None:
            return None
        _, called = found
        try:
            return self._columns(called.results, called.kind)
        except Exception:
            # A number or text of Python's that is no element; it is told in its place.
            self._made = called.results
            return None

    def _columns(self, results: list[Any], kind: type | None) -> Columns:
        if kind in PLAIN:
            return Rows(results, plain=True)
        if kind is not None:
            column = column_of(results)
            return Rows(column, plain=True) if isinstance(column, list) else Columns(0, (column,), len(column))
        if not PYTHONS.isdisjoint(map(type, results)):
            results = [as_element(result) if type(result) in PYTHONS else result for result in results]
        count = count_alike(results)
        self._made = results[count:]
        return Rows(results[:count] if self._made else results)

    def _call(self, columns: Columns) -> Called:
        return call_for_each(self._function, columns, _UNCHANGING, settle_last, np.ndarray)

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
