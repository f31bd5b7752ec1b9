"""``Dataset.flat_map``: the elements of a dataset made from each element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tfsvc.columns import Columns
from tfsvc.data.elements import relax
from tfsvc.data.functions import call_for_dataset, call_for_examples
from tfsvc.data.operator import UNKNOWN, Context, Operator, OperatorIterator, UnaryOperator, remade
from tfsvc.random import global_seed


@dataclass(frozen=True, eq=False)
class Expansion(UnaryOperator):
    """An operator that runs the datasets which ``function`` makes, whole and without splits of their own.

    Attributes:
      seed: the global seed that was set when the function was given.
    """

    function: Callable[..., Any]
    seed: int | None = field(default_factory=global_seed, kw_only=True)

    def expand(self, element: Any, luck: int) -> Operator:
        """The graph that the function makes of an element."""
        return call_for_dataset(self.function, element, self.seed, luck)

    @property
    def spec_is_given(self) -> bool:
        return False

    @property
    def reads_files(self) -> bool:
        return self._inner_reads_files or super().reads_files

    @property
    def _inner_reads_files(self) -> bool:
        return call_for_dataset(self.function, self.input.examples()[0]).reads_files

    def by_file(self, divide: Callable[[Operator], Operator]) -> Operator:
        # Where the function opens files, its input is what names them.
        share = divide(self.input) if self._inner_reads_files else self.input.by_file(divide)
        return remade(self, input=share)

    def cardinality(self) -> int:
        return UNKNOWN

    def try_function(self) -> None:
        call_for_dataset(self.function, self.input.examples()[0])

    def _make_spec(self) -> Any:
        return relax(call_for_examples(lambda example: self.expand(example, 0).spec(), self.input.examples()))

    def _make_examples(self) -> tuple[Any, ...]:
        examples = call_for_examples(lambda example: self.expand(example, 0).examples(), self.input.examples())
        return examples[0][0], examples[-1][-1]


@dataclass(frozen=True, eq=False)
class FlatMap(Expansion):
    """The elements of ``function(element)``, one dataset after the other."""

    name = "flat_map"
    expands = True

    def iterator(self, context: Context) -> OperatorIterator:
        return _FlatMapIterator(self, context)


class Expands(Protocol):
    """An operator that makes datasets of elements."""

    def expand(self, element: Any, luck: int) -> Operator: ...


_AHEAD: Final = 64
_AHEAD_BYTES: Final = 2048


class Expanded:
    """One dataset being read: the element it was made from, and how far it has been read.

    :meth:`next` may read a few elements ahead; so few that a saved state may hold them.
    """

    def __init__(self, operator: Expands, element: Any, number: int, context: Context) -> None:
        self._element = element
        self._number = number
        made = operator.expand(element, context.luck_within(number))
        self._may_read_ahead = made.may_read_ahead
        self.iterator = made.iterator(context.whole(number))
        self._rows: list[Any] = []
        self._rows_max = 1

    @property
    def has_rows(self) -> bool:
        """Whether the next element is at hand."""
        return bool(self._rows)

    def block(self, limit: int) -> Columns | None:
        """The next elements, where they may be taken together."""
        return self.iterator.block(limit) if self._may_read_ahead else None

    def next(self, limit: int = 1) -> Any:
        """The next element, as the iterator gives it; where it must be read, so are others up to ``limit``."""
        if self._rows:
            return self._rows.pop()
        block = self.block(min(limit, self._rows_max))
        if block is None:
            return self.iterator.next()
        self._rows = list(block.elements())
        self._rows.reverse()
        self._rows_max = max(1, min(_AHEAD, _AHEAD_BYTES * block.count // max(1, block.nbytes)))
        return self._rows.pop()

    def save(self) -> Any:
        return self._element, self._number, self.iterator.save(), list(self._rows)

    @staticmethod
    def load(state: Any, operator: Expands, context: Context) -> Expanded:
        element, number, inner, rows = state
        expanded = Expanded(operator, element, number, context)
        expanded.iterator.load(inner)
        expanded._rows = list(rows)
        return expanded


class _FlatMapIterator(OperatorIterator):
    def __init__(self, flat_map: FlatMap, context: Context) -> None:
        self._operator = flat_map
        self._input = flat_map.input.iterator(context)
        self._context = context
        self._made = 0
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
                return inner.block(limit)
            except StopIteration:
                self._inner = None

    def _open(self) -> Expanded:
        """The dataset of the next element of the input."""
        element = self._input.next()
        self._made += 1
        self._inner = Expanded(self._operator, element, self._made, self._context)
        return self._inner

    def save(self) -> Any:
        return self._input.save(), self._made, self._inner and self._inner.save()

    def load(self, state: Any) -> None:
        input, self._made, inner = state
        self._input.load(input)
        self._inner = inner and Expanded.load(inner, self._operator, self._context)
