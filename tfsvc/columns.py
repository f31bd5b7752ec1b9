"""Many elements of one structure as one stacked array per component."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc import nest

Leaf = np.ndarray[Any, Any] | tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Columns:
    """``count`` elements, column by column.

    Attributes:
      structure: the nest of one element, its components replaced by their position in ``leaves``.
      leaves: one entry a component: an array of shape ``(count, *element shape)``, an object array of
        ``bytes`` for strings; or a tuple of ``count`` leaves where shapes or dtypes differ, or nobody has stacked them.
      count: how many elements there are, at least one.
    """

    structure: Any
    leaves: tuple[Leaf, ...]
    count: int

    @property
    def form(self) -> Any:
        """A nest of the form of each element."""
        return self.structure

    @property
    def nbytes(self) -> int:
        """Roughly the bytes of the elements; strings and what is not stacked count as if all were like the first."""
        return sum(map(_bytes, self.leaves))

    def element(self, index: int) -> Any:
        """One element, its arrays being views."""
        return nest.pack_sequence_as(self.structure, [leaf[index] for leaf in self.leaves])

    def elements(self, start: int = 0) -> Iterator[Any]:
        """The elements in order from ``start`` on."""
        if not self.leaves:
            return (nest.pack_sequence_as(self.structure, ()) for _ in range(start, self.count))
        leaves = [leaf[start:] for leaf in self.leaves] if start else self.leaves
        if not nest.is_nested(self.structure):
            return iter(leaves[0])
        rows = zip(*leaves, strict=True)
        flat = type(self.structure) is tuple and not any(map(nest.is_nested, self.structure))
        return rows if flat else map(nest.packer(self.structure), rows)

    def copies(self) -> Iterator[Any]:
        """The elements in order, each a nest of its own, which its taker may change."""
        return self.elements()


def _bytes(leaf: Leaf) -> int:
    if isinstance(leaf, np.ndarray) and leaf.dtype != object:
        return leaf.nbytes
    first = leaf[0]
    return len(leaf) * (len(first) if isinstance(first, bytes) else getattr(first, "nbytes", 8))
