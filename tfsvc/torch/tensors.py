"""Elements as PyTorch's tensors.

| component | becomes |
|---|---|
| numbers and booleans | a tensor of the same type and shape, bfloat16 and float8 too |
| a string | ``bytes`` |
| an array of strings | a list of ``bytes``, of lists where it has more dimensions |
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch

from tfsvc import nest
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import as_dtype

_VIEWED: Final = ("bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")
"""Types that PyTorch has and NumPy has not by itself; they are handed over as their bits."""

_BITS: Final = {1: (np.uint8, torch.uint8), 2: (np.int16, torch.int16)}
"""Types of so many bytes that both have."""


def to_tensors(element: Any, copy: bool = True) -> Any:
    """An element with tensors in the place of arrays.

    Args:
      element: a nest of arrays, numbers and ``bytes``.
      copy: whether tensors have memory of their own. If not, they share that of the element where they can, and must
        not be written to: PyTorch has no tensors that cannot be.

    Raises:
      InvalidArgumentError: for a component of a type that PyTorch has not.
    """
    if type(element) is dict:
        return {key: to_tensors(value, copy) for key, value in element.items()}
    if nest.is_nested(element):
        return nest.map_structure(lambda leaf: _to_tensor(leaf, copy), element)
    return _to_tensor(element, copy)


def _to_tensor(leaf: Any, copy: bool) -> Any:
    if isinstance(leaf, bytes):
        return leaf
    if not isinstance(leaf, np.ndarray | np.generic):
        raise InvalidArgumentError(
            message=f"A {type(leaf).__name__} is no tensor; elements that are datasets, such as windows, must be "
            "flattened before: flat_map them, or batch each."
        )
    if leaf.dtype == object:
        return leaf.tolist()
    return _shared(np.array(leaf, order="C") if copy else _writable(np.asarray(leaf)))


def _shared(array: Any) -> Any:
    """A tensor that shares an array's memory."""
    if array.dtype.isbuiltin == 1:
        return torch.from_numpy(array)
    name = as_dtype(array.dtype).name
    if name not in _VIEWED:
        raise InvalidArgumentError(
            message=f"PyTorch has no tensors of {name}; map the component to another type first, as with "
            "x.astype(np.float32)."
        )
    bits, torch_bits = _BITS[array.dtype.itemsize]
    return torch.from_numpy(array.view(bits)).view(torch_bits).view(getattr(torch, name))


class _Alias:
    """Memory of an array as if it could be written to: PyTorch warns of others, as :func:`to_tensors` does in words."""

    def __init__(self, array: Any) -> None:
        self._array = array  # kept alive
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def _writable(array: Any) -> Any:
    if array.flags.writeable:
        return array
    if not array.size or any(stride < 0 for stride in array.strides):
        return array.copy()
    made = np.asarray(_Alias(array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}")))
    return made if array.dtype.isbuiltin == 1 else made.view(array.dtype)
