"""``Dataset.flat_map``: the elements of a dataset made from each element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfsvc.columns import Columns
from tfsvc.data.elements import relax
from tfsvc.data.functions import Wrapper, call_for_dataset
from tfsvc.data.operator import UNKNOWN, Context, Operator, OperatorIterator, UnaryOperator


@dataclass(frozen=True, eq=False)
class Expansion(UnaryOperator):
    """An operator that runs the datasets which ``function`` makes, whole and without splits of their own."""

    function: Callable[..., Any]

    @property
    def spec_is_given(self) -> bool:
        return False

    def cardinality(self) -> int:
        return UNKNOWN

    def _make_spec(self) -> Any:
        return relax(call_for_dataset(self.function, example).spec() for example in self._inputs())

    def _make_examples(self) -> tuple[Any, ...]:
        return call_for_dataset(self.function, self._inputs()[0]).examples()

    def _inputs(self) -> tuple[Any, ...]:
        return (self.input.identified if isinstance(self.function, Within) else self.input).examples()


@dataclass(frozen=True, eq=False)
class FlatMap(Expansion):
    """The elements of ``function(element)``, one dataset after the other."""

    name = "flat_map"
    expands = True

    def iterator(self, context: Context) -> OperatorIterator:
        return _FlatMapIterator(self, context)


@dataclass(frozen=True)
class Within(Wrapper):
    """From a pair of an element and its number to the dataset that ``function`` makes of the element.

    So the luck inside of that dataset is a function of the element, wherever it is made.

    Attributes:
      paired: whether the dataset's elements are pairs too.
    """

    paired: bool = False

    @staticmethod
    def of(function: Callable[..., Any]) -> Within:
        """The function itself, if it is one already."""
        return function if isinstance(function, Within) else Within(function)

    def __call__(self, element: Any, number: Any) -> Operator:
        operator = call_for_dataset(self.function, element)
        return operator.identified if self.paired else operator


class Expanded:
    """One dataset being read: the element it was made from, and how far it has been read."""

    def __init__(self, function: Callable[..., Any], element: Any, number: int, context: Context) -> None:
        self._element = element
        self._number = number
        self.iterator = call_for_dataset(function, element).iterator(context.whole(number))

    def save(self) -> Any:
        return self._element, self._number, self.iterator.save()

    @staticmethod
    def load(state: Any, function: Callable[..., Any], context: Context) -> Expanded:
        element, number, inner = state
        expanded = Expanded(function, element, number, context)
        expanded.iterator.load(inner)
        return expanded


class _FlatMapIterator(OperatorIterator):
    def __init__(self, flat_map: FlatMap, context: Context) -> None:
        self._function = Within.of(flat_map.function)
        self._input = flat_map.input.identified.iterator(context)
        self._context = context
        self._inner: Expanded | None = None

    def next(self) -> Any:
        while True:
            inner = self._inner or self._open()
            try:
                return inner.iterator.next()
            except StopIteration:
                self._inner = None

    def block(self, limit: int) -> Columns | None:
        while True:
            inner = self._inner or self._open()
            try:
                return inner.iterator.block(limit)
            except StopIteration:
                self._inner = None

    def _open(self) -> Expanded:
        pair = self._input.next()
        self._inner = Expanded(self._function, pair, int(pair[1]), self._context)
        return self._inner

    def save(self) -> Any:
        return self._input.save(), self._inner and self._inner.save()

    def load(self, state: Any) -> None:
        input, inner = state
        self._input.load(input)
        self._inner = inner and Expanded.load(inner, self._function, self._context)
