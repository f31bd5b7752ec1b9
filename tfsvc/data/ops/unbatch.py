"""``Dataset.unbatch``: the rows of each element."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.elements import zero_examples
from tfsvc.data.functions import Called
from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, UnaryOperator
from tfsvc.data.ops.function_input import FunctionInput
from tfsvc.data.stacking import cut, join, positions
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import TensorSpec


@dataclass(frozen=True, eq=False)
class Unbatch(UnaryOperator):
    """Row ``i`` of every component, for each row of each element."""

    name = "unbatch"
    shards_by_file = True
    expands = True

    def __post_init__(self) -> None:
        if self.spec_is_given:
            self.spec()

    def cardinality(self) -> int:
        count = self.input.cardinality()
        if count < 0:
            return count
        rows = known_rows(self.input.spec())
        return count * rows if rows else UNKNOWN

    def iterator(self, context: Context) -> OperatorIterator:
        return _UnbatchIterator(self, context)

    def _make_spec(self) -> Any:
        known_rows(self.input.spec())
        return nest.map_structure(_row, self.input.spec())

    def _make_examples(self) -> tuple[Any, ...]:
        columns = rows_of_examples(self.input.examples())
        if not columns:
            return zero_examples(self.spec())
        return columns[0].element(0), columns[-1].element(columns[-1].count - 1)


def check_rows(spec: Any) -> None:
    """Checks that every component of a spec has rows.

    Raises:
      ValueError: if one is a scalar.
    """
    if any(leaf.shape == () for leaf in nest.flatten(spec)):
        raise ValueError("A dataset with scalar components has no rows. Make some with `batch` first.")


def known_rows(spec: Any) -> int | None:
    """How many rows each element of a spec has, where it says.

    Raises:
      ValueError: if a component is a scalar, or components differ in their number of rows.
    """
    check_rows(spec)
    shapes = [leaf.shape for leaf in nest.flatten(spec)]
    rows = dict.fromkeys(shape[0] for shape in shapes if shape and shape[0] is not None)
    if len(rows) > 1:
        raise ValueError(f"The components of an element must have the same number of rows, but have {list(rows)}.")
    return next(iter(rows), None)


def _row(spec: TensorSpec) -> TensorSpec:
    return TensorSpec(None if spec.shape is None else spec.shape[1:], spec.dtype)


def rows_of(element: Any) -> Columns:
    """The rows of an element, all its components cut along their first dimension.

    Raises:
      InvalidArgumentError: if a component is a scalar, or components differ in their number of rows.
    """
    leaves = nest.flatten(element)
    if not all(map(np.ndim, leaves)):
        raise InvalidArgumentError(message="An element with scalar components has no rows; use batch first.")
    if any(len(leaf) != len(leaves[0]) for leaf in leaves):
        sizes = ", ".join(str(len(leaf)) for leaf in leaves)
        raise InvalidArgumentError(message=f"Input components must have the same number of rows; they have {sizes}.")
    return Columns(positions(element), tuple(leaves), len(leaves[0]))


def rows_of_examples(examples: tuple[Any, ...]) -> list[Columns]:
    """The rows of those examples that have any."""
    found = []
    for example in examples:
        with suppress(InvalidArgumentError):
            found.append(rows_of(example))
    return [columns for columns in found if columns.count]


def _rows_of_each(columns: Columns) -> Called:
    rows: list[Any] = []
    for element in columns.elements():
        try:
            rows.append(rows_of(element))
        except (ValueError, InvalidArgumentError) as error:
            return Called(rows, failure=error)
    return Called(rows)


class _UnbatchIterator(OperatorIterator):
    """Cuts one element at a time, or several together when it is asked for more rows than one has."""

    def __init__(self, unbatch: Unbatch, context: Context) -> None:
        self._input = FunctionInput(unbatch.input.iterator(context))
        self._held: Columns | None = None
        self._row = 0
        self._rows_of_one: int | None = None

    def next(self) -> Any:
        held = self._fill(1)
        self._row += 1
        return held.element(self._row - 1)

    def block(self, limit: int) -> Columns:
        held = self._fill(limit)
        start = self._row
        self._row = min(start + limit, held.count)
        return cut(held, start, self._row)

    def _fill(self, limit: int) -> Columns:
        """What is being cut, with at least one row left; about ``limit`` rows where it is new."""
        while self._held is None or self._row >= self._held.count:
            self._held = None
            self._held = self._read(limit)
            self._row = 0
        return self._held

    def _read(self, limit: int) -> Columns | None:
        count = 1 if self._rows_of_one is None else limit // max(1, self._rows_of_one)
        found = self._input.block(count, _rows_of_each) if count > 1 else None
        pieces = found[1].results if found else [rows_of(self._input.next())]
        self._rows_of_one = pieces[0].count
        full = [piece for piece in pieces if piece.count]
        return join(full) if full else None

    def save(self) -> Any:
        held = None if self._held is None else cut(self._held, self._row, self._held.count)
        return held, self._input.save()

    def load(self, state: Any) -> None:
        self._held, input = state
        self._input.load(input)
