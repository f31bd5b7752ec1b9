"""``Dataset.from_tensor_slices``: the rows of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.elements import read_only, zero_examples
from tfsvc.data.operator import Context, OperatorIterator
from tfsvc.data.ops.cursor import Cursor, CursorIterator, Indexed
from tfsvc.data.stacking import positions
from tfsvc.protocol.splits import SplitPlan
from tfsvc.specs import TensorSpec


@dataclass(frozen=True, eq=False)
class TensorSlices(Indexed):
    """Row ``i`` of every array of ``element``, for each ``i``; rows are views that cannot be written to."""

    element: Any
    name = "from_tensor_slices"

    def __post_init__(self) -> None:
        leaves = nest.flatten(self.element)
        if not leaves:
            raise ValueError("from_tensor_slices needs at least one component")
        if any(np.ndim(leaf) == 0 for leaf in leaves):
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        for leaf in leaves[1:]:
            if len(leaf) != len(leaves[0]):
                raise ValueError(f"Dimensions {len(leaves[0])} and {len(leaf)} are not compatible")

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """The components as read-only arrays."""
        return tuple(map(read_only, nest.flatten(self.element)))

    def cardinality(self) -> int:
        return len(self.arrays[0])

    def plans(self) -> tuple[SplitPlan, ...]:
        return (SplitPlan(self.cardinality()),)

    def iterator(self, context: Context) -> OperatorIterator:
        return _TensorSlicesIterator(self, context)

    def at(self, places: Any) -> Columns:
        return Columns(positions(self.element), tuple(array[places] for array in self.arrays), len(places))

    def _make_spec(self) -> Any:
        return nest.map_structure(lambda leaf: TensorSpec(leaf.shape[1:], leaf.dtype), self.element)

    def _make_examples(self) -> tuple[Any, ...]:
        if not self.cardinality():
            return zero_examples(self.spec())
        rows = range(min(2, self.cardinality()))
        return tuple(nest.pack_sequence_as(self.element, [a[i] for a in self.arrays]) for i in rows)


class _TensorSlicesIterator(CursorIterator):
    def __init__(self, slices: TensorSlices, context: Context) -> None:
        self._arrays = slices.arrays
        self._structure = positions(slices.element)
        self._pack = nest.packer(self._structure)
        super().__init__(Cursor(slices.cardinality(), context.feed))

    def next(self) -> Any:
        index = self._cursor.next()
        return self._pack([array[index] for array in self._arrays])

    def block(self, limit: int) -> Columns:
        lo, hi = self._cursor.span(limit)
        return Columns(self._structure, tuple(array[lo:hi] for array in self._arrays), hi - lo)
