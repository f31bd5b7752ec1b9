"""States of iterators as bytes: positions, counts and elements, wherever they are written and read.

What is read back is data. Nothing in it can name code to be run, whoever wrote it: that holds for resume tokens, which
lie with trainers, and for checkpoints of lanes and snapshots alike.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections import namedtuple
from functools import cache
from typing import Any, Final

import ml_dtypes
import numpy as np

from tfsvc.errors import InvalidArgumentError


def dumps(state: Any) -> bytes:
    """``state`` as bytes.

    Raises:
      InvalidArgumentError: if an operator holds elements that are no data, such as datasets that functions made.
    """
    buffer = io.BytesIO()
    try:
        _Pickler(buffer, 5).dump(state)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise InvalidArgumentError(
            message=f"The state cannot be written down: an operator holds elements of a type of yours; {error}. Let "
            "elements be tuples or dicts of arrays."
        ) from error
    return buffer.getvalue()


def loads(written: bytes) -> Any:
    """What :func:`dumps` wrote.

    Raises:
      InvalidArgumentError: if it is damaged, or names what is no data.
    """
    try:
        return _Unpickler(io.BytesIO(written)).load()
    except Exception as error:
        raise InvalidArgumentError(message=f"The state is damaged: {type(error).__name__}: {error}") from error


_DATA: Final = {
    ("builtins", "bytes"),
    ("builtins", "dict"),
    ("builtins", "float"),
    ("builtins", "int"),
    ("builtins", "list"),
    ("builtins", "set"),
    ("builtins", "str"),
    ("builtins", "tuple"),
    ("collections", "OrderedDict"),
    ("collections", "defaultdict"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy._core.numeric", "_frombuffer"),
    ("tfsvc.columns", "Columns"),
    ("tfsvc.data.dataset", "Dataset"),
    ("tfsvc.data.ops.held", "Held"),
    ("tfsvc.data.states", "_named"),
    ("tfsvc.errors", "RpcError"),
    ("tfsvc.errors", "Code"),
    ("tfsvc.errors", "Outcome"),
    ("tfsvc.protocol.splits", "SplitPosition"),
    ("tfsvc.protocol.splits", "Span"),
    ("tfsvc.protocol.splits", "Checkpoint"),
    ("tfsvc.protocol.messages.shared", "LanePlace"),
    ("tfsvc.service.position", "ServicePosition"),
    ("tfsvc.specs", "DatasetSpec"),
    ("tfsvc.specs", "TensorSpec"),
    ("tfsvc.specs", "as_dtype"),
}


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, tuple) and hasattr(obj, "_fields"):
            kind = type(obj)
            return _named, (kind.__module__, kind.__qualname__, obj._fields, tuple(obj))
        if callable(obj) and not _is_data(obj.__module__, obj.__qualname__):
            raise pickle.PicklingError(f"it names {obj.__module__}.{obj.__qualname__}, which is no data")
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if _is_data(module, name):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"it names {module}.{name}, which is no data")


def _is_data(module: str, name: str) -> bool:
    return (module, name) in _DATA or _is_type_of_numbers(module, name)


def _is_type_of_numbers(module: str, name: str) -> bool:
    """Whether it names one of the data types that arrays have, which are many; a name with dots leads elsewhere."""
    match module:
        case "numpy.dtypes":
            found = vars(np.dtypes).get(name)
        case "ml_dtypes":
            found = vars(ml_dtypes).get(name)
        case _:
            return False
    return isinstance(found, type) and issubclass(found, np.dtype | np.generic)


def _named(module: str, name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """A named tuple, of the class that wrote it where that is known here, or else of one that is like it."""
    return _named_tuple_class(module, name, fields)._make(values)


@cache
def _named_tuple_class(module: str, name: str, fields: tuple[str, ...]) -> Any:
    found = vars(sys.modules[module]).get(name) if module in sys.modules else None
    if isinstance(found, type) and issubclass(found, tuple) and getattr(found, "_fields", None) == fields:
        return found
    return namedtuple(name.rpartition(".")[2], fields)
