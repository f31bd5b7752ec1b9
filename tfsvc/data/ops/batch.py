"""``Dataset.batch``: consecutive elements stacked into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.operator import Context, OperatorIterator, UnaryOperator
from tfsvc.data.stacking import count_alike, cut, is_regular, join, stack_elements, stacked, to_columns
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import TensorSpec


def batches_of(count: int, size: int, drop_remainder: bool) -> int:
    """The cardinality of batches of ``size`` elements of a dataset of ``count``."""
    if count < 0:
        return count
    return count // size if drop_remainder else -(-count // size)


def unlike_batches(examples: tuple[Any, ...], size: int, stack: Callable[[Sequence[Any]], Any]) -> tuple[Any, Any]:
    """Two batches that show how much of what a function makes of them depends on how many rows they have.

    They differ in their rows, also where ``size`` allows no more than one: the spec of batches leaves that open. As two
    rows of one example may be as large as one of another, they differ in the sizes of as many components as can be.
    """
    found = []
    for first, last in ((2, 1), (1, 2)) if size > 1 else ((1, 2), (1, 3)):
        found.append((stack([examples[0]] * first), stack([examples[-1]] * last)))
        if not _components_of_one_size(found[-1]):
            break
    return min(found, key=_components_of_one_size)


def _components_of_one_size(batches: tuple[Any, Any]) -> int:
    first, last = map(nest.flatten, batches)
    return sum(np.size(a) == np.size(b) for a, b in zip(first, last, strict=True))


@dataclass(frozen=True, eq=False)
class Batch(UnaryOperator):
    """``size`` elements as one; the last may be shorter, or is left out with ``drop_remainder``."""

    size: int
    drop_remainder: bool
    name = "batch"
    shards_by_file = True

    def __post_init__(self) -> None:
        if self.size <= 0:
            raise InvalidArgumentError(message="Batch size must be greater than zero.")

    def cardinality(self) -> int:
        return batches_of(self.input.cardinality(), self.size, self.drop_remainder)

    def iterator(self, context: Context) -> OperatorIterator:
        return _BatchIterator(self, context)

    def _make_spec(self) -> Any:
        rows = self.size if self.drop_remainder else None
        return nest.map_structure(lambda spec: _stacked(spec, rows), self.input.spec())

    def _make_examples(self) -> tuple[Any, ...]:
        examples = self.input.examples()
        if self.drop_remainder:
            return tuple(nest.map_structure(lambda leaf: _repeated(leaf, self.size), e) for e in examples)
        return unlike_batches(examples, self.size, stack_elements)


def _stacked(spec: TensorSpec, rows: int | None) -> TensorSpec:
    return TensorSpec(None if spec.shape is None else (rows, *spec.shape), spec.dtype)


def _repeated(leaf: Any, rows: int) -> Any:
    array = np.asarray(leaf, object if isinstance(leaf, bytes) else None)
    return np.broadcast_to(array, (rows, *array.shape))


class _BatchIterator(OperatorIterator):
    """Holds the batch being filled as rows or as columns, whichever way it was asked last."""

    def __init__(self, batch: Batch, context: Context) -> None:
        self._size = batch.size
        self._drop_remainder = batch.drop_remainder
        self._input = batch.input.iterator(context)
        self._rows: list[Any] = []
        self._pieces: list[Columns] = []

    def next(self) -> Any:
        columns = self.block(1)
        if columns is not None:
            return columns.element(0)
        self._to_rows()
        rows = self._rows
        try:
            while len(rows) < self._size:
                rows.append(self._input.next())
        except StopIteration:
            if not rows or self._drop_remainder:
                raise
        self._rows = rows[self._size :]
        return stack_elements(rows[: self._size])

    def block(self, limit: int) -> Columns | None:
        self._to_pieces()
        if self._rows:
            return None
        held = sum(piece.count for piece in self._pieces)
        while held < self._size:
            try:
                piece = self._input.block(limit * self._size - held)
            except StopIteration:
                if not held or self._drop_remainder:
                    raise
                return self._batches(1, held)
            if piece is None:
                return None
            piece = stacked(piece)
            self._pieces.append(piece)
            held += piece.count
            if not is_regular(piece):
                return None
        return self._batches(held // self._size, self._size)

    def _batches(self, count: int, size: int) -> Columns | None:
        """``count`` batches of ``size`` out of the pieces; what is over is kept."""
        joined = join(self._pieces)
        if not is_regular(joined):
            return None
        taken = count * size
        self._pieces = [cut(joined, taken, joined.count)] if taken < joined.count else []
        leaves = tuple(leaf[:taken].reshape(count, size, *leaf.shape[1:]) for leaf in joined.leaves)  # type: ignore[union-attr]
        return Columns(joined.structure, leaves, count)

    def _to_rows(self) -> None:
        for piece in self._pieces:
            self._rows.extend(piece.elements())
        self._pieces = []

    def _to_pieces(self) -> None:
        """Makes columns of the rows, unless they vary or are a whole batch already."""
        if self._rows and len(self._rows) < self._size and count_alike(self._rows) == len(self._rows):
            columns = to_columns(self._rows)
            if is_regular(columns):
                self._pieces, self._rows = [columns], []

    def save(self) -> Any:
        held = [*self._rows, *(row for piece in self._pieces for row in piece.elements())]
        return held, self._input.save()

    def load(self, state: Any) -> None:
        held, input = state
        self._rows = list(held)
        self._input.load(input)
