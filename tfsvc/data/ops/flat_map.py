"""``Dataset.flat_map``: the elements of a dataset made from each element."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Protocol

from tfsvc.columns import Columns
from tfsvc.data.elements import relax, spread
from tfsvc.data.functions import Wrapper, call_for_dataset, call_for_examples
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
        return call_for_dataset(self.function, self._inputs()[0]).reads_files

    def by_file(self, divide: Callable[[Operator], Operator]) -> Operator:
        # Where the function opens files, its input is what names them.
        share = divide(self.input) if self._inner_reads_files else self.input.by_file(divide)
        return remade(self, input=share)

    def cardinality(self) -> int:
        return UNKNOWN

    def try_function(self) -> None:
        call_for_dataset(self.function, self._inputs()[0])

    def _make_spec(self) -> Any:
        return relax(call_for_examples(lambda example: self.expand(example, 0).spec(), self._inputs()))

    def _make_examples(self) -> tuple[Any, ...]:
        examples = call_for_examples(lambda example: self.expand(example, 0).examples(), self._inputs())
        return spread((examples[0][0], examples[-1][-1]), self.spec())

    def _inputs(self) -> tuple[Any, ...]:
        return (self.input.identified if isinstance(self.function, Within) else self.input).examples()

    @cached_property
    def within(self) -> Expansion:
        """The same for pairs of an element and its number."""
        return remade(self, function=Within.of(self.function))


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


class ExpansionIterator(OperatorIterator):
    """Reads datasets one after the other; subclasses say which is next."""

    def __init__(self) -> None:
        self._inner: Expanded | None = None

    @abstractmethod
    def _expand_next(self) -> Expanded:
        """The next dataset; ``StopIteration`` where there is none."""

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
        self._inner = self._expand_next()
        return self._inner


class _FlatMapIterator(ExpansionIterator):
    def __init__(self, flat_map: FlatMap, context: Context) -> None:
        super().__init__()
        self._operator = flat_map.within
        self._input = flat_map.input.identified.iterator(context)
        self._context = context

    def _expand_next(self) -> Expanded:
        pair = self._input.next()
        return Expanded(self._operator, pair, int(pair[1]), self._context)

    def save(self) -> Any:
        return self._input.save(), self._inner and self._inner.save()

    def load(self, state: Any) -> None:
        input, inner = state
        self._input.load(input)
        self._inner = inner and Expanded.load(inner, self._operator, self._context)
