"""``tf.Variable``: a tensor that functions share and change."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from tfsvc.data.elements import conform, read_only
from tfsvc.eager.ops import constant
from tfsvc.eager.symbolic import Symbolic, tracing
from tfsvc.specs import DType, Shape, TensorSpec, spec_of


class Variable(NDArrayOperatorsMixin):
    """A tensor that can be assigned to, by several threads at once.

    Args:
      initial_value: its first value.
      dtype: what it is cast to; that of ``initial_value`` when not given.
      name: a label.
      shape: what its values must fit; that of ``initial_value`` when not given.
    """

    def __init__(self, initial_value: Any, dtype: Any = None, name: str = "Variable", shape: Any = ...) -> None:
        value = constant(initial_value, dtype)
        found = spec_of(value)
        self.name = name
        self._spec = TensorSpec(found.shape if shape is ... else shape, found.dtype)
        self._value = read_only(value)
        self._lock = threading.Lock()

    def __reduce__(self) -> Any:
        # A dataset's function takes along the value that it has now, as TensorFlow's graphs do.
        return type(self), (self._value, self.dtype, self.name, self.shape)

    @property
    def dtype(self) -> DType:
        return self._spec.dtype

    @property
    def shape(self) -> Shape | None:
        return self._spec.shape

    def assign(self, value: Any) -> Any:
        """Takes over ``value``, and returns it.

        Raises:
          TypeError, ValueError: if its data type or shape does not fit.
        """
        return self._set(lambda _: value)

    def assign_add(self, delta: Any) -> Any:
        """Adds ``delta`` in one step that no other thread sees half of, and returns the sum."""
        return self._set(lambda old: np.add(old, conform(delta, TensorSpec(None, self.dtype))))

    def assign_sub(self, delta: Any) -> Any:
        """Subtracts ``delta`` as :meth:`assign_add` adds it."""
        return self._set(lambda old: np.subtract(old, conform(delta, TensorSpec(None, self.dtype))))

    def read_value(self) -> Any:
        """The value that it has now; it does not change."""
        return Symbolic(self._spec) if tracing() else self._value

    value = read_value

    def numpy(self) -> Any:
        """The value that it has now, for NumPy."""
        return self._value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._value, dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        values = (x.read_value() if isinstance(x, Variable) else x for x in inputs)
        return getattr(ufunc, method)(*values, **kwargs)

    def __repr__(self) -> str:
        return f"<tf.Variable {self.name!r} shape={self.shape} dtype={self.dtype.name}, numpy={self._value!r}>"

    def _set(self, change: Any) -> Any:
        if tracing():
            return Symbolic(self._spec)
        with self._lock:
            self._value = read_only(conform(change(self._value), self._spec))
            return self._value
