"""``Dataset.from_npy``: the rows of arrays in ``.npy`` files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.elements import as_leaf, zero_element
from tfsvc.data.operator import Context, OperatorIterator
from tfsvc.data.ops.cursor import Cursor, Indexed
from tfsvc.data.stacking import positions
from tfsvc.errors import NotFoundError
from tfsvc.protocol.splits import SplitPlan
from tfsvc.specs import TensorSpec


@dataclass(frozen=True, eq=False)
class NpyRows(Indexed):
    """Row ``i`` of the array in each of ``filenames``; the files are mapped into memory where the dataset runs.

    Attributes:
      filenames: a nest of names; elements have its form.
      array_spec: the same nest with the spec of each whole array.
    """

    filenames: Any
    array_spec: Any
    name = "from_npy"

    def __post_init__(self) -> None:
        shapes = [spec.shape for spec in nest.flatten(self.array_spec)]
        if () in shapes:
            raise ValueError("from_npy needs arrays of at least one dimension")
        if len({shape[0] for shape in shapes}) != 1:
            raise ValueError(f"the arrays must have the same number of rows, but their shapes are {shapes}")

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays of the files.

        Raises:
          NotFoundError: if one is missing.
        """
        return tuple(map(map_npy, nest.flatten(self.filenames)))

    def at(self, places: Any) -> Columns:
        return Columns(positions(self.filenames), tuple(as_leaf(a[places]) for a in self.arrays), len(places))

    def cardinality(self) -> int:
        count: int = nest.flatten(self.array_spec)[0].shape[0]
        return count

    def plans(self) -> tuple[SplitPlan, ...]:
        return (SplitPlan(self.cardinality()),)

    def iterator(self, context: Context) -> OperatorIterator:
        return _NpyIterator(self, context)

    def _make_spec(self) -> Any:
        return nest.map_structure(lambda spec: TensorSpec(spec.shape[1:], spec.dtype), self.array_spec)

    def _make_examples(self) -> tuple[Any, ...]:
        # The files may exist only where the workers run.
        return (zero_element(self.spec()),)


def map_npy(filename: str) -> Any:
    """The array of a file, mapped into memory, read-only.

    Raises:
      NotFoundError: if there is no such file.
      ValueError: if it is no ``.npy`` file, or holds Python objects.
    """
    try:
        # As a plain array, so that its rows are plain too.
        return np.asarray(np.load(filename, mmap_mode="r"))
    except FileNotFoundError as error:
        raise NotFoundError(message=f"{filename}; No such file or directory") from error


class _NpyIterator(OperatorIterator):
    def __init__(self, rows: NpyRows, context: Context) -> None:
        self._rows = rows
        self._structure = positions(rows.filenames)
        self._cursor = Cursor(rows.cardinality(), context.feed)

    def next(self) -> Any:
        return self.block(1).element(0)

    def block(self, limit: int) -> Columns:
        arrays = self._rows.arrays
        lo, hi = self._cursor.span(limit)
        return Columns(self._structure, tuple(as_leaf(array[lo:hi]) for array in arrays), hi - lo)

    def save(self) -> Any:
        return self._cursor.save()

    def load(self, state: Any) -> None:
        self._cursor.load(state)
