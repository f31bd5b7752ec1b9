"""Reading datasets in tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.data import Dataset
from tfsvc.data.operator import Context, OperatorIterator


def plain(element: Any) -> Any:
    """An element with Python's own numbers and lists."""
    return nest.map_structure(
        lambda leaf: leaf.tolist() if isinstance(leaf, (np.generic, np.ndarray)) else leaf, element
    )


def elements(dataset: Dataset, limit: int = 50) -> list[Any]:
    """The first ``limit`` elements, plain."""
    return [plain(element) for element in dataset.take(limit)]


def start(dataset: Dataset, *feeds: Any, seed: int = 0) -> OperatorIterator:
    """A pass of the dataset's operator."""
    return dataset.operator.iterator(Context(feeds, seed))


def drain(iterator: OperatorIterator) -> list[Any]:
    """All further elements, plain, with the name of an exception in the place of an element that failed."""
    found: list[Any] = []
    while True:
        try:
            found.append(plain(iterator.next()))
        except StopIteration:
            return found
        except Exception as error:
            found.append(type(error).__name__)
