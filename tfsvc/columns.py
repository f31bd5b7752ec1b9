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
        ``bytes`` for strings; or a tuple of ``count`` arrays where the shapes or dtypes differ.
      count: how many elements there are, at least one.
    """

    structure: Any
    leaves: tuple[Leaf, ...]
    count: int

    def element(self, index: int) -> Any:
        """One element, its arrays being views."""
        return nest.pack_sequence_as(self.structure, [leaf[index] for leaf in self.leaves])

    def elements(self, start: int = 0) -> Iterator[Any]:
        """The elements in order from ``start`` on."""
        if not self.leaves:
            yield from (nest.pack_sequence_as(self.structure, ()) for _ in range(start, self.count))
            return
        leaves = [leaf[start:] for leaf in self.leaves]
        if nest.is_nested(self.structure):
            yield from map(nest.packer(self.structure), zip(*leaves, strict=True))
        else:
            yield from leaves[0]
