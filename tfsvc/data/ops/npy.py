"""``Dataset.from_npy`` and ``Dataset.from_npz``: the rows of arrays in files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.elements import as_leaf, zero_examples
from tfsvc.data.operator import Context, OperatorIterator, SourceOperator
from tfsvc.data.ops.array_files import ArrayFile, Rows
from tfsvc.data.ops.cursor import Cursor, CursorIterator
from tfsvc.data.stacking import positions
from tfsvc.protocol.splits import SplitPlan
from tfsvc.specs import TensorSpec


@dataclass(frozen=True, eq=False)
class NpyRows(SourceOperator):
    """Row ``i`` of each of ``arrays``, which are opened where the dataset runs.

    Attributes:
      arrays: a nest of :class:`ArrayFile`; elements have its form.
      array_spec: the same nest with the spec of each whole array.
    """

    arrays: Any
    array_spec: Any
    name = "from_npy"

    def __post_init__(self) -> None:
        shapes = [spec.shape for spec in nest.flatten(self.array_spec)]
        if () in shapes:
            raise ValueError("rows need arrays of at least one dimension")
        if len({shape[0] for shape in shapes}) != 1:
            raise ValueError(f"the arrays must have the same number of rows, but their shapes are {shapes}")

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
        return zero_examples(self.spec())


def spec_of_file(array: ArrayFile) -> TensorSpec:
    """The spec of a whole array, of which only the head is read; raises as :meth:`ArrayFile.open`."""
    opened = array.open()
    return TensorSpec(opened.shape, opened.dtype)


class _NpyIterator(CursorIterator):
    def __init__(self, rows: NpyRows, context: Context) -> None:
        self._files = nest.flatten(rows.arrays)
        self._structure = positions(rows.arrays)
        self._arrays: list[Rows] = []
        super().__init__(Cursor(rows.cardinality(), context.feed))

    def next(self) -> Any:
        return self.block(1).element(0)

    def block(self, limit: int) -> Columns:
        if not self._arrays:
            self._arrays = [file.open() for file in self._files]
        lo, hi = self._cursor.span(limit)
        return Columns(self._structure, tuple(as_leaf(array[lo:hi]) for array in self._arrays), hi - lo)
