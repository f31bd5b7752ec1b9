"""Arrays of other libraries as NumPy's, sharing their memory where they let us."""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np

_SMALL_FLOATS = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
"""Types by their names in PyTorch and in ``ml_dtypes``, which neither ``__array__`` nor DLPack hands to NumPy."""


def is_foreign(value: Any) -> bool:
    """Whether a value is an array of another library."""
    return hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def to_numpy(value: Any) -> Any:
    """The array, without a copy where its library allows that.

    Raises:
      Exception: what its library raises for one that lies on a device or takes part in a gradient, which says how
        to get at its data.
    """
    # Who holds a tensor has imported its library, so nothing is imported here.
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _from_torch(torch, value)
    if not hasattr(value, "__array__"):
        return np.from_dlpack(value)
    try:
        return np.asarray(value)
    except ValueError:
        # TensorFlow's scalars of small floats have an `__array__` that gives none.
        if not hasattr(value, "numpy"):
            raise
        return np.asarray(value.numpy())


def _from_torch(torch: Any, tensor: Any) -> Any:
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in _SMALL_FLOATS:
        return tensor.numpy()
    bits = torch.int16 if tensor.dtype.itemsize == 2 else torch.uint8
    return tensor.view(bits).numpy().view(getattr(ml_dtypes, name))
