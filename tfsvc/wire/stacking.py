"""Elements to columns: many nests of one structure become one array for each component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns, Leaf
from tfsvc.errors import InvalidArgumentError
from tfsvc.wire.buffers import canonical

LARGE: Final = 16 << 10
"""Bytes of an array that is not worth an extra copy."""


def columns_of(elements: Sequence[Any]) -> Columns:
    """The columns of one or more elements of one structure.

    A component whose shapes and data types agree becomes one stacked array, any other a tuple of
    arrays and scalars; ``None`` stays ``None`` in such a tuple. Nothing large is copied: a single
    element is not, and arrays of :data:`LARGE` bytes stay a tuple, which a frame holds as one array.

    Args:
      elements: nests of NumPy arrays and scalars, ``bytes``, ``str`` and ``None``.

    Raises:
      InvalidArgumentError: if there is no element, the structures differ, or a component has no
        TensorFlow data type.
    """
    if not elements:
        raise InvalidArgumentError(None, None, "columns need at least one element")
    leaves: list[Leaf] = []
    structure = _transpose(elements, leaves)
    return Columns(structure, tuple(leaves), len(elements))


def _transpose(values: Sequence[Any], leaves: list[Leaf]) -> Any:
    """The structure of ``values``; appends a column for each of its leaves."""
    first = values[0]
    kinds = set(map(type, values))
    if not nest.is_nested(first):
        leaves.append(_column(values, kinds))
        return len(leaves) - 1
    if len(kinds) > 1 or set(map(len, values)) != {len(first)}:
        raise _differ(kinds)
    keys = sorted(first) if isinstance(first, Mapping) else range(len(first))
    try:
        columns = [list(map(itemgetter(key), values)) for key in keys]
    except KeyError as error:
        raise _differ(kinds) from error
    return nest.rebuild(first, [_transpose(column, leaves) for column in columns])


def _column(values: Sequence[Any], kinds: set[type]) -> Leaf:
    kind = next(iter(kinds))
    if len(kinds) == 1:
        if kind is bytes:
            return np.array(values, dtype=object)
        if kind is np.ndarray and len({(array.dtype, array.shape) for array in values}) == 1:
            first = values[0]
            if len(values) > 1 and first.nbytes >= LARGE and not first.dtype.hasobject:
                return tuple(values)
            return canonical(_stacked(values))[0]
        if issubclass(kind, np.number | np.bool_) or (issubclass(kind, np.generic) and np.dtype(kind).kind == "V"):
            return canonical(np.fromiter(values, kind, len(values)))[0]
    if any(issubclass(kind, tuple | list | Mapping) for kind in kinds):
        raise _differ(kinds)
    arrays = [None if value is None else canonical(value)[0] for value in values]
    if len({None if array is None else (array.dtype, array.shape) for array in arrays}) > 1 or arrays[0] is None:
        return tuple(None if array is None else array[()] for array in arrays)
    return np.stack(arrays)  # type: ignore[arg-type]


def _stacked(arrays: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    if len(arrays) == 1:
        return arrays[0][np.newaxis]
    if arrays[0].dtype.hasobject:
        return np.stack(arrays)
    return np.array(arrays)  # Twice as fast as np.stack for small arrays; objects it might unpack.


def _differ(kinds: set[type]) -> InvalidArgumentError:
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    return InvalidArgumentError(
        None, None, f"the elements differ in structure ({names}); make the pipeline yield one structure"
    )
