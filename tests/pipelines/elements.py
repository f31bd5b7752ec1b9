"""Elements as something that can be compared and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(element: Any) -> Any:
    """An element as something that can be compared and read: types, dtypes, shapes and values."""
    if isinstance(element, Mapping):
        return tuple((key, plain(value)) for key, value in element.items())
    if isinstance(element, (tuple, list)):
        return type(element).__name__, *map(plain, element)
    if isinstance(element, bytes):
        return element
    kind = "array" if isinstance(element, np.ndarray) else "scalar"
    return kind, element.dtype.name, element.shape, repr(element.tolist())
