"""Operations on tensors, as TensorFlow's of the same names: they run at once, on NumPy arrays.

Two tensors must have one data type, as in TensorFlow; a Python number takes the other's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfsvc.data.elements import as_leaf, conform
from tfsvc.eager.symbolic import Symbolic
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import DType, TensorSpec, as_dtype, spec_of


def convert_to_tensor(value: Any, dtype: Any = None) -> Any:
    """``value`` as a NumPy array, scalar or ``bytes``.

    Args:
      value: a number, text, an array, or lists of these; Python's integers become int32, its floats float32.
      dtype: what numbers are cast to.

    Raises:
      TypeError: if it is none of these.
      ValueError: if a list has no rectangular shape, or a number does not fit its type.
    """
    if isinstance(value, Symbolic):
        return value
    if dtype is None or isinstance(value, np.ndarray | np.generic):
        leaf = as_leaf(value)
        if dtype is not None and spec_of(leaf).dtype != dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor with dtype "
                f"{spec_of(leaf).dtype.name}; cast it with `tf.cast`."
            )
        return leaf
    return conform(value, TensorSpec(None, dtype))


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """A tensor of a value; see :func:`convert_to_tensor`.

    Args:
      value: as there.
      dtype: what numbers are cast to.
      shape: the shape that the values are put into; one value fills it.
      name: kept for compatibility.
    """
    leaf = as_leaf(value) if dtype is None else conform(value, TensorSpec(None, dtype))
    if shape is None:
        return leaf
    array = np.asarray(leaf)
    return as_leaf(np.full(shape, array) if array.size == 1 else array.reshape(shape))


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """The same numbers in another data type."""
    tensor = convert_to_tensor(x)
    if isinstance(tensor, bytes):
        raise InvalidArgumentError(message="text cannot be cast to numbers")
    return _result(tensor.astype(as_dtype(dtype).numpy))


def type_spec_from_value(value: Any) -> TensorSpec:
    """The :class:`TensorSpec` of a tensor; of a spec, itself."""
    if isinstance(value, TensorSpec):
        return value
    return value.spec if isinstance(value, Symbolic) else spec_of(as_leaf(value))


def _operands(op: str, x: Any, y: Any) -> tuple[Any, Any]:
    if _untyped(x) and not _untyped(y):
        y = convert_to_tensor(y)
        x = convert_to_tensor(x, _dtype(y))
    else:
        x = convert_to_tensor(x)
        y = convert_to_tensor(y, _dtype(x)) if _untyped(y) else convert_to_tensor(y)
    if _dtype(x) != _dtype(y):
        raise InvalidArgumentError(
            message=f"cannot compute {op} as input #1 (zero-based) was expected to be a {_dtype(x).name} tensor but "
            f"is a {_dtype(y).name} tensor"
        )
    return x, y


def _untyped(value: Any) -> bool:
    return type(value) in (bool, int, float, complex, list)


def _dtype(value: Any) -> DType:
    return value.dtype if isinstance(value, Symbolic) else spec_of(value).dtype


def _result(value: Any) -> Any:
    return value if isinstance(value, Symbolic) else as_leaf(value)


def _binary(op: str, function: Callable[[Any, Any], Any], doc: str) -> Callable[..., Any]:
    def apply(x: Any, y: Any, name: str | None = None) -> Any:
        x, y = _operands(op, x, y)
        try:
            with np.errstate(all="ignore"):
                return _result(function(x, y))
        except ValueError as error:
            raise InvalidArgumentError(message=f"{op}: {error}") from error

    apply.__name__ = apply.__qualname__ = op.lower()
    apply.__doc__ = f"{doc}\n\nRaises:\n  InvalidArgumentError: if data types differ, or shapes do not fit."
    return apply


def _unary(op: str, function: Callable[[Any], Any], doc: str) -> Callable[..., Any]:
    def apply(x: Any, name: str | None = None) -> Any:
        with np.errstate(all="ignore"):
            return _result(function(convert_to_tensor(x)))

    apply.__name__ = apply.__qualname__ = op.lower()
    apply.__doc__ = doc
    return apply


def _reduction(op: str, function: Callable[..., Any], doc: str) -> Callable[..., Any]:
    def apply(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
        tensor = convert_to_tensor(input_tensor)
        axes = tuple(axis) if isinstance(axis, list) else axis
        dtype = _dtype(tensor).numpy
        return _result(function(tensor, axis=axes, keepdims=keepdims).astype(dtype))

    apply.__name__ = apply.__qualname__ = op.lower()
    apply.__doc__ = f"{doc} along ``axis``, along all when not given; of the same data type."
    return apply


add = _binary("AddV2", np.add, "``x + y``, element by element.")
subtract = _binary("Sub", np.subtract, "``x - y``, element by element.")
multiply = _binary("Mul", np.multiply, "``x * y``, element by element.")
divide = _binary("RealDiv", np.true_divide, "``x / y``, element by element; integers give float64.")
maximum = _binary("Maximum", np.maximum, "The larger of both, element by element.")
minimum = _binary("Minimum", np.minimum, "The smaller of both, element by element.")
matmul = _binary("MatMul", np.matmul, "The product of matrices.")
equal = _binary("Equal", np.equal, "Whether both are the same, element by element.")
less = _binary("Less", np.less, "Whether ``x < y``, element by element.")
greater = _binary("Greater", np.greater, "Whether ``x > y``, element by element.")
negative = _unary("Neg", np.negative, "``-x``, element by element.")
abs = _unary("Abs", np.abs, "The absolute value, element by element.")
square = _unary("Square", np.square, "``x * x``, element by element.")
sqrt = _unary("Sqrt", np.sqrt, "The square root, element by element.")
exp = _unary("Exp", np.exp, "The exponential, element by element.")
reduce_sum = _reduction("Sum", np.sum, "The sum")
reduce_mean = _reduction("Mean", np.mean, "The mean")
reduce_max = _reduction("Max", np.max, "The largest element")
reduce_min = _reduction("Min", np.min, "The smallest element")
