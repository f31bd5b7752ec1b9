"""Rows to columns: how single elements become the arrays of a batch or of a :class:`Columns`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, compress
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.elements import PLAIN, DatasetLeaf
from tfsvc.errors import InvalidArgumentError


def positions(structure: Any) -> Any:
    """The nest with each leaf replaced by its position, as :attr:`Columns.structure` has it."""
    if not nest.is_nested(structure):
        return 0
    return nest.pack_sequence_as(structure, range(len(nest.flatten(structure))))


def stack_elements(rows: Sequence[Any]) -> Any:
    """One element with a new first dimension of ``len(rows)``.

    Raises:
      InvalidArgumentError: if the rows differ in structure, shape or dtype.
    """
    first = rows[0]
    if not nest.is_nested(first):
        return stack_leaves(rows, 0)
    return nest.pack_sequence_as(first, [stack_leaves(c, i) for i, c in enumerate(transposed(rows))])


def stack_leaves(rows: Sequence[Any], component: int) -> Any:
    """An array of shape ``(len(rows), *shape of a row)``; ``component`` is for the error message only."""
    first = rows[0]
    if isinstance(first, DatasetLeaf):
        raise InvalidArgumentError(message="Datasets cannot be batched; map or flat_map them to elements first.")
    if isinstance(first, bytes):
        if not all(isinstance(row, bytes) for row in rows):
            raise _mismatch(rows, component)
        return np.array(rows, object)
    if isinstance(first, np.generic):
        if set(map(type, rows)) != {type(first)}:
            raise _mismatch(rows, component)
        return np.fromiter(rows, first.dtype, len(rows))
    if not all(isinstance(r, np.ndarray) and r.shape == first.shape and r.dtype == first.dtype for r in rows):
        raise _mismatch(rows, component)
    # In one call it costs half as much as np.stack, which makes a view of each row.
    return np.concatenate(rows).reshape(len(rows), *first.shape)


def _dtype(leaf: Any) -> Any:
    return np.dtype(object) if isinstance(leaf, bytes) else leaf.dtype


def _mismatch(rows: Sequence[Any], component: int) -> InvalidArgumentError:
    first = rows[0]
    for index, row in enumerate(rows):
        if np.shape(row) != np.shape(first):
            return InvalidArgumentError(
                message=f"Cannot batch tensors with different shapes in component {component}. First element had "
                f"shape {list(np.shape(first))} and element {index} had shape {list(np.shape(row))}."
            )
    names = ", ".join(sorted({_dtype(row).name for row in rows}))
    return InvalidArgumentError(
        message=f"Cannot batch tensors with different dtypes in component {component}: {names}."
    )


def transposed(rows: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The components of the rows, each with its value in every row.

    Raises:
      InvalidArgumentError: if the rows differ in their number of components.
    """
    try:
        return list(zip(*map(nest.flatten, rows), strict=True))
    except ValueError as error:
        raise InvalidArgumentError(message="Cannot batch elements with different numbers of components.") from error


def count_alike(rows: Sequence[Any]) -> int:
    """How many rows there are before one that differs in structure from the first."""
    kinds = set(map(type, rows))
    if _are_leaves(kinds):
        return len(rows)
    if kinds == {tuple} and len(set(map(len, rows))) == 1 and _are_leaves(set(map(type, chain.from_iterable(rows)))):
        return len(rows)
    if kinds == {dict} and all(row.keys() == rows[0].keys() for row in rows):
        below = chain.from_iterable(map(dict.values, rows))
        if _are_leaves(set(map(type, below))):
            return len(rows)
    return next((count for count, row in enumerate(rows) if not _same_structure(rows[0], row)), len(rows))


def _are_leaves(kinds: set[type]) -> bool:
    return kinds <= _LEAVES or not any(issubclass(kind, _NESTED) for kind in kinds)


_LEAVES = PLAIN | {np.ndarray}
_NESTED = (tuple, list, Mapping)


def _same_structure(one: Any, two: Any) -> bool:
    try:
        nest.assert_same_structure(one, two)
    except (TypeError, ValueError):
        return False
    return True


def columns_of(rows: Sequence[Any]) -> Columns:
    """Rows of one structure as columns, each of them a tuple."""
    first = rows[0]
    if not nest.is_nested(first):
        return Columns(0, (tuple(rows),), len(rows))
    flat = type(first) is tuple and not any(map(nest.is_nested, first))
    return Columns(positions(first), tuple(zip(*rows, strict=True) if flat else transposed(rows)), len(rows))


class Rows(Columns):
    """Elements of one structure that came one by one; columns are made of them when somebody asks for some.

    Args:
      rows: the elements, in a list of their own.
      plain: whether each of them is a scalar that never changes.
    """

    __slots__ = ("plain", "rows")
    plain: bool
    rows: list[Any]

    def __init__(self, rows: list[Any], plain: bool = False) -> None:
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "plain", plain)
        object.__setattr__(self, "count", len(rows))

    def __getattr__(self, name: str) -> Any:
        # The slots of these two are empty until somebody asks for one.
        if name not in ("structure", "leaves"):
            raise AttributeError(name)
        columns = columns_of(self.rows)
        object.__setattr__(self, "structure", columns.structure)
        object.__setattr__(self, "leaves", columns.leaves)
        return getattr(self, name)

    def __reduce__(self) -> Any:
        return Columns, (self.structure, self.leaves, self.count)

    @property
    def form(self) -> Any:
        return self.rows[0]

    @property
    def nbytes(self) -> int:
        if isinstance(self.rows[0], (np.ndarray, np.generic)):
            return int(self.count * self.rows[0].nbytes)
        leaves = nest.flatten(self.rows[0])
        return self.count * sum(len(x) if isinstance(x, bytes) else getattr(x, "nbytes", 8) for x in leaves)

    def element(self, index: int) -> Any:
        return self.rows[index]

    def elements(self, start: int = 0) -> Iterator[Any]:
        return iter(self.rows[start:] if start else self.rows)

    def copies(self) -> Iterator[Any]:
        first = self.rows[0]
        if not nest.is_nested(first):
            return self.elements()
        if type(first) in (tuple, dict) and not any(map(nest.is_nested, nest.children(first))):
            return self.elements() if type(first) is tuple else map(dict.copy, self.rows)
        return super().elements()


def to_columns(rows: Sequence[Any]) -> Columns:
    """The rows as columns; a component whose shape or dtype varies becomes a tuple.

    Raises:
      InvalidArgumentError: if the rows differ in structure.
    """
    if count_alike(rows) < len(rows):
        raise InvalidArgumentError(message="Cannot make columns of elements with different structures.")
    return stacked(columns_of(rows))


def stacked(columns: Columns, below: float = math.inf) -> Columns:
    """The same elements, each component an array unless its shape or dtype varies.

    Args:
      below: arrays of so many bytes or more are left as they are; all are stacked by default.
    """
    if is_regular(columns):
        return columns
    leaves = [leaf if isinstance(leaf, np.ndarray) else _column(leaf, below) for leaf in columns.leaves]
    return Columns(columns.structure, tuple(leaves), columns.count)


def _column(rows: tuple[Any, ...], below: float) -> Any:
    if isinstance(rows[0], np.ndarray) and rows[0].nbytes >= below:
        return rows
    try:
        return stack_leaves(rows, 0)
    except InvalidArgumentError:
        return rows


def join(pieces: Sequence[Columns]) -> Columns:
    """The elements of several columns of one structure, one after the other."""
    if len(pieces) == 1:
        return pieces[0]
    if all(isinstance(piece, Rows) for piece in pieces):
        plain = all(piece.plain for piece in pieces if isinstance(piece, Rows))
        return Rows(list(chain.from_iterable(piece.elements() for piece in pieces)), plain)
    leaves = [_join_leaf(leaf) for leaf in zip(*(piece.leaves for piece in pieces), strict=True)]
    return Columns(pieces[0].structure, tuple(leaves), sum(piece.count for piece in pieces))


def _join_leaf(leaves: Sequence[Any]) -> Any:
    first = leaves[0]
    if all(isinstance(a, np.ndarray) and a.shape[1:] == first.shape[1:] and a.dtype == first.dtype for a in leaves):
        return np.concatenate(leaves)
    return tuple(row for leaf in leaves for row in leaf)


def cut(columns: Columns, start: int, stop: int) -> Columns:
    """The elements ``start <= i < stop``, as views."""
    if isinstance(columns, Rows):
        return Rows(columns.rows[start:stop], columns.plain)
    return Columns(columns.structure, tuple(leaf[start:stop] for leaf in columns.leaves), stop - start)


def pick(columns: Columns, places: Sequence[int]) -> Columns:
    """The elements at these places, as copies."""
    if isinstance(columns, Rows):
        return Rows([columns.rows[place] for place in places], columns.plain)
    leaves = [
        leaf[places] if isinstance(leaf, np.ndarray) else tuple([leaf[place] for place in places])
        for leaf in columns.leaves
    ]
    return Columns(columns.structure, tuple(leaves), len(places))


def keep(columns: Columns, truths: Sequence[Any]) -> Columns | None:
    """The elements for which ``truths`` has a true boolean; ``None`` where there is none."""
    chosen = np.fromiter(truths, np.bool_, columns.count)
    if chosen.all():
        return columns
    if not chosen.any():
        return None
    if isinstance(columns, Rows):
        return Rows(list(compress(columns.rows, truths)), columns.plain)
    leaves = [
        leaf[chosen] if isinstance(leaf, np.ndarray) else tuple(compress(leaf, truths)) for leaf in columns.leaves
    ]
    return Columns(columns.structure, tuple(leaves), int(chosen.sum()))


def is_regular(columns: Columns) -> bool:
    """Whether every component has one shape and dtype."""
    return all(isinstance(leaf, np.ndarray) for leaf in columns.leaves)
