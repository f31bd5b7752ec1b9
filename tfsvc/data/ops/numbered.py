"""Elements with the number that tells them apart, which no public method makes: see :mod:`tfsvc.data.identity`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.operator import Context, OperatorIterator, SourceOperator, UnaryOperator
from tfsvc.data.ops.cursor import Indexed
from tfsvc.data.seeded import BITS, fold, mix
from tfsvc.data.stacking import positions
from tfsvc.errors import UnimplementedError
from tfsvc.protocol.splits import Lease, Span, SplitFeed, SplitPlan, SplitPosition
from tfsvc.specs import TensorSpec

_ENDLESS = 1 << 62


@dataclass(frozen=True, eq=False)
class Numbered(UnaryOperator):
    """Pairs of an element and a uint64 number.

    The number is a function of where the operator stands, of the element's split and of its place in it. So it does
    not depend on who reads the split. What is not a source counts as one split.
    """

    name = "numbered"

    def iterator(self, context: Context) -> OperatorIterator:
        return _NumberedIterator(self, context)

    def _make_spec(self) -> Any:
        return self.input.spec(), TensorSpec((), "uint64")

    def _make_examples(self) -> tuple[Any, ...]:
        return tuple((example, np.uint64(place)) for place, example in enumerate(self.input.examples()))

    def feed(self, context: Context) -> _Watched | None:
        """The splits of a source, all of them where it runs whole; ``None`` where it has none."""
        if not isinstance(self.input, SourceOperator):
            return None
        if context.feed is not None:
            return _Watched(context.feed)
        try:
            plans = self.input.plans()
        except UnimplementedError:
            return None
        if not plans:
            return None
        return _Watched(None, _ENDLESS if plans[0].count is None else plans[0].count)


@dataclass(frozen=True, eq=False)
class IndexedNumbered(Indexed):
    """The same of a source whose elements can be had in any order, and are one split each."""

    source: Indexed
    name = "numbered"

    def cardinality(self) -> int:
        return self.source.cardinality()

    def plans(self) -> tuple[SplitPlan, ...]:
        return self.source.plans()

    def iterator(self, context: Context) -> OperatorIterator:
        return _NumberedIterator(self._numbered, context)

    def at(self, places: Any) -> Columns:
        return _numbered(self.source.at(places), places, 0)

    def reader(self, context: Context) -> Callable[[Any], Columns]:
        base = _base(context)
        return lambda places: _numbered(self.source.at(places), places, base)

    @property
    def _numbered(self) -> Numbered:
        return Numbered(self.source)

    def _make_spec(self) -> Any:
        return self._numbered.spec()

    def _make_examples(self) -> tuple[Any, ...]:
        return self._numbered.examples()


def _base(context: Context) -> int:
    """Where the numbers of an operator begin."""
    # Mixed once more, or a path and the number that begins there would cancel each other.
    return int(mix(fold(context.path)))


def _numbered(columns: Columns, places: Any, base: int) -> Columns:
    return _pairs(columns, np.asarray(places, np.uint64) + np.uint64(base))


def _pairs(columns: Columns, numbers: Any) -> Columns:
    return Columns((columns.structure, len(columns.leaves)), (*columns.leaves, numbers), columns.count)


class _Watched(SplitFeed):
    """A feed that remembers which splits it gave last: those of ``feed``, or ``count`` of its own."""

    def __init__(self, feed: SplitFeed | None, count: int = 0, offset: int = 0) -> None:
        super().__init__(0, SplitPosition(0, offset))
        self._own = feed is None
        self._count = count
        self._feed = SplitFeed(0, self.at) if feed is None else feed
        if feed is None:
            self._feed.add(Lease(0, self.at, (Span(offset, count),) if offset < count else (), True))
        self.last = Span(0, 0)

    def next(self) -> int:
        position = self._feed.next()
        self.last = Span(position, position + 1)
        return position

    def take_span(self, limit: int) -> Span:
        self.last = self._feed.take_span(limit)
        return self.last

    def save(self) -> Any:
        """Positions of feeds from outside are no part of a state."""
        return self.last, self._feed.at.offset if self._own else 0

    def restored(self, state: Any) -> _Watched:
        last, offset = state
        feed = _Watched(None, self._count, offset) if self._own else self
        feed.last = Span(*last)
        return feed


class _NumberedIterator(OperatorIterator):
    def __init__(self, numbered: Numbered, context: Context) -> None:
        self._operator = numbered
        self._context = context
        self._base = _base(context)
        self._ordinal = -1
        self._start(numbered.feed(context))

    def _start(self, feed: _Watched | None) -> None:
        self._feed = feed
        self._split = feed.last if feed is not None else Span(0, 1)
        context = self._context if feed is None else replace(self._context, feeds=(feed,))
        self._input = self._operator.input.iterator(context)

    def next(self) -> Any:
        element = self._input.next()
        self._advance()
        return element, np.uint64(self._number())

    def block(self, limit: int) -> Columns | None:
        columns = self._input.block(limit)
        if columns is None:
            return None
        self._advance()
        if self._ordinal == 0 and self._split.size == columns.count:
            numbers = np.arange(*self._split, dtype=np.uint64) + np.uint64(self._base)
        else:
            first = np.uint64(self._number())
            self._ordinal += columns.count - 1
            rest = np.arange(self._ordinal - columns.count + 2, self._ordinal + 1, dtype=np.uint64)
            numbers = np.concatenate([[first], rest + np.uint64(self._within())])
        return _pairs(columns, numbers)

    def _advance(self) -> None:
        if self._feed is not None and self._feed.last is not self._split:
            self._split, self._ordinal = self._feed.last, 0
        else:
            self._ordinal += 1

    def _number(self) -> int:
        if not self._ordinal:
            return self._base + self._split.lo & BITS
        return self._within() + self._ordinal & BITS

    def _within(self) -> int:
        """Where the numbers of a split's further elements begin."""
        return int(mix(self._base + self._split.lo & BITS))

    def save(self) -> Any:
        return self._feed and self._feed.save(), self._ordinal, self._input.save()

    def load(self, state: Any) -> None:
        feed, self._ordinal, input = state
        if self._feed is not None:
            self._start(self._feed.restored(feed))
        self._input.load(input)


@dataclass(frozen=True, eq=False)
class RowsNumbered(UnaryOperator):
    """Pairs of an element and the numbers of its rows, out of pairs with a number of its own."""

    name = "numbered"

    def iterator(self, context: Context) -> OperatorIterator:
        return _RowsNumberedIterator(self.input.iterator(context))

    def _make_spec(self) -> Any:
        element, _ = self.input.spec()
        return element, TensorSpec([None], "uint64")

    def _make_examples(self) -> tuple[Any, ...]:
        return tuple(_number_rows(*pair) for pair in self.input.examples())


def _number_rows(element: Any, number: Any) -> Any:
    shape = np.shape(nest.flatten(element)[0])
    # A scalar has no rows, which is for others to say.
    return element, mix(np.full(shape[:1], number)) + np.arange(*shape[:1] or (1,), dtype=np.uint64)


class _RowsNumberedIterator(OperatorIterator):
    def __init__(self, input: OperatorIterator) -> None:
        self._input = input

    def next(self) -> Any:
        return _number_rows(*self._input.next())

    def save(self) -> Any:
        return self._input.save()

    def load(self, state: Any) -> None:
        self._input.load(state)


@dataclass(frozen=True, eq=False)
class Renumbered(UnaryOperator):
    """Pairs that the input gives in every pass again, with other numbers in each."""

    name = "numbered"

    def iterator(self, context: Context) -> OperatorIterator:
        return _RenumberedIterator(self.input.iterator(context), np.uint64(fold(context.path)))


class _RenumberedIterator(OperatorIterator):
    def __init__(self, input: OperatorIterator, turn: np.uint64) -> None:
        self._input = input
        self._turn = turn

    def next(self) -> Any:
        element, number = self._input.next()
        return element, number ^ self._turn

    def save(self) -> Any:
        return self._input.save()

    def load(self, state: Any) -> None:
        self._input.load(state)


@dataclass(frozen=True, eq=False)
class Regrouped(UnaryOperator):
    """Pairs again, of elements that an operator made out of pairs.

    Attributes:
      parts: from what is made, or its structure, to the element and its numbers.
      combine: from these numbers, or columns of them, to one.
    """

    parts: Callable[[Any], tuple[Any, tuple[Any, ...]]]
    combine: Callable[..., Any]
    name = "numbered"

    def iterator(self, context: Context) -> OperatorIterator:
        return _RegroupedIterator(self, self.input.iterator(context))

    def apply(self, made: Any) -> Any:
        """The pair."""
        element, numbers = self.parts(made)
        return element, self.combine(*numbers)

    def _make_spec(self) -> Any:
        element, _ = self.parts(self.input.spec())
        return element, TensorSpec((), "uint64")

    def _make_examples(self) -> tuple[Any, ...]:
        return tuple(map(self.apply, self.input.examples()))


class _RegroupedIterator(OperatorIterator):
    def __init__(self, regrouped: Regrouped, input: OperatorIterator) -> None:
        self._operator = regrouped
        self._input = input

    def next(self) -> Any:
        return self._operator.apply(self._input.next())

    def block(self, limit: int) -> Columns | None:
        columns = self._input.block(limit)
        if columns is None:
            return None
        structure, numbers = self._operator.parts(columns.structure)
        leaves = [columns.leaves[place] for place in nest.flatten(structure)]
        number = self._operator.combine(*(columns.leaves[place] for place in numbers))
        return Columns(positions((structure, 0)), (*leaves, number), columns.count)

    def save(self) -> Any:
        return self._input.save()

    def load(self, state: Any) -> None:
        self._input.load(state)
