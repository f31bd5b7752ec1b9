"""What tells elements apart: how the number of an element goes through each operator.

``Operator.identified`` is the same graph with pairs of an element and a uint64 number for its elements. The number
is a function of where the element comes from, never of who makes it or when: its source's place in the graph, its
position there and, below ``flat_map`` and its like, the number of the element that its dataset was made from. Since
it is one more component, buffers, blocks, caches and saved states carry it without knowing; and a graph in which
nobody asks has none.

An element made of several has the number of the first. An operator without a rule here counts what it gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.data.functions import InProcesses, Vectorized, Wrapper, call
from tfsvc.data.operator import Operator, remade
from tfsvc.data.ops.assert_cardinality import AssertCardinality
from tfsvc.data.ops.batch import Batch
from tfsvc.data.ops.cache import Cache
from tfsvc.data.ops.choose import Choose
from tfsvc.data.ops.chunk import Loaded
from tfsvc.data.ops.concatenate import Concatenate
from tfsvc.data.ops.cursor import Indexed
from tfsvc.data.ops.enumerate import Enumerate
from tfsvc.data.ops.filter import Filter
from tfsvc.data.ops.flat_map import Expansion, Within
from tfsvc.data.ops.group_by_window import GroupByWindow
from tfsvc.data.ops.held import Held, spec_of_rows
from tfsvc.data.ops.ignore_errors import IgnoreErrors
from tfsvc.data.ops.map import Map
from tfsvc.data.ops.numbered import IndexedNumbered, Numbered, Regrouped, Renumbered, RowsNumbered
from tfsvc.data.ops.padded_batch import PaddedBatch
from tfsvc.data.ops.prefetch import Prefetch
from tfsvc.data.ops.rebatch import Rebatch
from tfsvc.data.ops.repeat import Repeat
from tfsvc.data.ops.scan import Scan
from tfsvc.data.ops.shard import Shard
from tfsvc.data.ops.shuffle import Shuffle
from tfsvc.data.ops.skip import Skip
from tfsvc.data.ops.take import Take
from tfsvc.data.ops.take_while import TakeWhile
from tfsvc.data.ops.unbatch import Unbatch
from tfsvc.data.ops.unique import Unique
from tfsvc.data.ops.window import Window
from tfsvc.data.ops.with_options import WithOptions
from tfsvc.data.ops.zip import Zip
from tfsvc.data.origins import mark
from tfsvc.data.seeded import Seeded, mix


def identified(operator: Operator) -> Operator:
    """The graph of pairs; elements, splits and luck are those of ``operator``."""
    made = _identified(operator)
    mark(made, operator.origin)
    return made


def _identified(operator: Operator) -> Operator:
    match operator:
        case Map(function=function):
            return _map(operator, function)
        case Filter() | TakeWhile():
            return remade(operator, input=operator.input.identified, function=OfElement(operator.function))
        case Expansion():
            return remade(operator, function=replace(Within.of(operator.function), paired=True))
        case Scan():
            return remade(operator, input=operator.input.identified, function=OfStateAndElement(operator.function))
        case Cache():
            return Renumbered(remade(operator, input=operator.input.identified))
        case (
            AssertCardinality()
            | IgnoreErrors()
            | Prefetch()
            | Repeat()
            | Shard()
            | Shuffle()
            | Skip()
            | Take()
            | WithOptions()
        ):
            return remade(operator, input=operator.input.identified)
        case Loaded(input=below):
            # It tells only what is known of them.
            return below.identified
        case Batch():
            return Regrouped(remade(operator, input=operator.input.identified), _pair, _first)
        case Rebatch():
            rows = RowsNumbered(operator.input.identified)
            return Regrouped(remade(operator, input=rows), _pair, _first)
        case Unbatch():
            return Unbatch(RowsNumbered(operator.input.identified))
        case Enumerate():
            return Regrouped(remade(operator, input=operator.input.identified), _enumerated, _same)
        case Window():
            return Regrouped(remade(operator, input=operator.input.identified), _pair, _first_held)
        case PaddedBatch():
            return PairedPaddedBatch(**_fields(operator))
        case Unique():
            return PairedUnique(**_fields(operator))
        case GroupByWindow():
            return PairedGroups(**_fields(operator))
        case Concatenate(first=first, second=second):
            return Concatenate(first.identified, second.identified)
        case Choose():
            return remade(operator, operators=tuple(below.identified for below in operator.operators))
        case Zip(operators=operators, structure=structure):
            pairs = Zip(tuple(below.identified for below in operators), tuple(range(len(operators))))
            return Regrouped(pairs, Unzipped(structure), _fold)
        case Indexed():
            return IndexedNumbered(operator)
        case _:
            return Numbered(operator)


def _fields(operator: Any) -> dict[str, Any]:
    return {**operator.__getstate__(), "input": operator.input.identified}


def _map(operator: Map, function: Any) -> Operator:
    match function:
        case Seeded():
            # It identifies its input by itself.
            return remade(operator, function=replace(function, paired=True))
        case InProcesses(function=Seeded() as inner):
            return remade(operator, function=replace(function, function=replace(inner, paired=True)))
        case InProcesses() | Vectorized():
            beside: Callable[..., Any] = replace(function, function=Beside(function.function))
        case _:
            beside = Beside(function)
    return remade(operator, input=operator.input.identified, function=beside)


@dataclass(frozen=True)
class Beside(Wrapper):
    """From a pair to the pair of the function's result and the same number; also from columns to columns."""

    def __call__(self, element: Any, number: Any) -> Any:
        result = call(self.function, element)
        return (tuple(result) if isinstance(result, list) else result), number


@dataclass(frozen=True)
class OfElement(Wrapper):
    """From a pair to what the function says of the element."""

    def __call__(self, element: Any, number: Any) -> Any:
        return call(self.function, element)


@dataclass(frozen=True)
class OfStateAndElement(Wrapper):
    """From a state and a pair to the next state and a pair."""

    def __call__(self, state: Any, pair: Any) -> Any:
        result = call(self.function, (state, pair[0]))
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            return result
        return result[0], (result[1], pair[1])


def _pair(made: Any) -> tuple[Any, tuple[Any, ...]]:
    element, number = made
    return element, (number,)


def _enumerated(made: Any) -> tuple[Any, tuple[Any, ...]]:
    place, (element, number) = made
    return (place, element), (number,)


@dataclass(frozen=True)
class Unzipped:
    """From a tuple of pairs to the element of the form of ``structure``, and all numbers."""

    structure: Any

    def __call__(self, made: Any) -> tuple[Any, tuple[Any, ...]]:
        elements, numbers = zip(*made, strict=True)
        return nest.pack_sequence_as(self.structure, elements), numbers


def _same(number: Any) -> Any:
    return number


def _first(numbers: Any) -> Any:
    """Of the numbers of a batch's rows, or of a column of such."""
    if isinstance(numbers, tuple):
        return np.array([rows[0] for rows in numbers], np.uint64)
    return numbers[..., 0][()]


def _first_held(numbers: Any) -> Any:
    return numbers.operator.rows[0]


def _fold(*numbers: Any) -> Any:
    """One number for several; also for columns of them."""
    folded = np.atleast_1d(numbers[0])
    for number in numbers[1:]:
        folded = mix(folded) ^ number
    return folded if np.ndim(numbers[0]) else folded[0]


class PairedPaddedBatch(PaddedBatch):
    """Pads the elements of pairs."""

    def __post_init__(self) -> None:
        """What was checked once holds."""

    def stack(self, rows: Any) -> Any:
        return super().stack([element for element, _ in rows]), rows[0][1]

    def _make_spec(self) -> Any:
        element, number = self.input.spec()
        return self.padded(element), number


class PairedUnique(Unique):
    """Looks at the elements of pairs."""

    def __post_init__(self) -> None:
        """What was checked once holds."""

    def _make_spec(self) -> Any:
        return self.input.spec()

    def key(self, element: Any) -> Any:
        return super().key(element[0])


class PairedGroups(GroupByWindow):
    """Groups pairs by their elements, and gives each group's function the elements alone."""

    def key(self, element: Any) -> int:
        return super().key(element[0])

    def place(self, rows: tuple[Any, ...], made: int) -> int:
        return int(rows[0][1])

    def expand(self, element: tuple[int, tuple[Any, ...]], luck: int) -> Operator:
        key, pairs = element
        spec, _ = spec_of_rows(self.input, pairs)
        return self.reduced(key, Held(tuple(element for element, _ in pairs), spec), luck).identified
