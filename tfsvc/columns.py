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
        if self.structure == 0 and not isinstance(self.structure, bool):
            yield from self.leaves[0][start:]
            return
        if not self.leaves:
            yield from (self.structure for _ in range(start, self.count))
            return
        for row in zip(*(leaf[start:] for leaf in self.leaves), strict=True):
            yield nest.pack_sequence_as(self.structure, list(row))
