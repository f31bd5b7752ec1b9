"""Data types and the specification of a tensor: what an element looks like without its values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np


class DType:
    """A TensorFlow data type: its name, its number on the wire, and NumPy's type for it.

    Strings are ``object`` arrays of ``bytes`` in NumPy. Equal to its name, to NumPy's type and
    to another ``DType`` of the same number. Made by :func:`as_dtype`, and there as ``tf.int64`` and so on.
    """

    __slots__ = ("_enum", "_name", "_numpy")

    def __init__(self, name: str, enum: int, numpy: Any) -> None:
        self._name = name
        self._enum = enum
        self._numpy: np.dtype[Any] = np.dtype(numpy)

    @property
    def name(self) -> str:
        """TensorFlow's name, such as ``"int64"``."""
        return self._name

    @property
    def as_datatype_enum(self) -> int:
        """The number of TensorFlow's ``DataType`` enum."""
        return self._enum

    @property
    def as_numpy_dtype(self) -> Any:
        """NumPy's scalar type, as ``tf.DType.as_numpy_dtype``."""
        return self._numpy.type

    @property
    def numpy(self) -> np.dtype[Any]:
        """NumPy's data type."""
        return self._numpy

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self._enum == other._enum
        try:
            return self._enum == as_dtype(other)._enum
        except TypeError:
            return NotImplemented

    def __hash__(self) -> int:
        return self._enum

    def __repr__(self) -> str:
        return f"tf.{self._name}"

    def __reduce__(self) -> Any:
        return as_dtype, (self._name,)


_ALL = (
    DType("float32", 1, np.float32),
    DType("float64", 2, np.float64),
    DType("int32", 3, np.int32),
    DType("uint8", 4, np.uint8),
    DType("int16", 5, np.int16),
    DType("int8", 6, np.int8),
    DType("string", 7, np.object_),
    DType("complex64", 8, np.complex64),
    DType("int64", 9, np.int64),
    DType("bool", 10, np.bool_),
    DType("bfloat16", 14, ml_dtypes.bfloat16),
    DType("uint16", 17, np.uint16),
    DType("complex128", 18, np.complex128),
    DType("float16", 19, np.float16),
    DType("uint32", 22, np.uint32),
    DType("uint64", 23, np.uint64),
    DType("float8_e5m2", 24, ml_dtypes.float8_e5m2),
    DType("float8_e4m3fn", 25, ml_dtypes.float8_e4m3fn),
    DType("float8_e4m3fnuz", 26, ml_dtypes.float8_e4m3fnuz),
    DType("float8_e4m3b11fnuz", 27, ml_dtypes.float8_e4m3b11fnuz),
    DType("float8_e5m2fnuz", 28, ml_dtypes.float8_e5m2fnuz),
    DType("int4", 29, ml_dtypes.int4),
    DType("uint4", 30, ml_dtypes.uint4),
)
_BY_NAME = {d.name: d for d in _ALL} | {"half": _ALL[13], "float": _ALL[0], "double": _ALL[1]}
_BY_ENUM = {d.as_datatype_enum: d for d in _ALL}
_BY_NUMPY = {d.numpy: d for d in _ALL}

DTYPES: dict[str, DType] = {d.name: d for d in _ALL}
"""Every data type by its TensorFlow name, in the order of the wire numbers."""


def as_dtype(value: Any) -> DType:
    """The :class:`DType` of ``value``: a name, a wire number, a NumPy dtype or a Python type.

    Raises:
      TypeError: if TensorFlow has no such type.
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, str) and value in _BY_NAME:
        return _BY_NAME[value]
    if isinstance(value, int) and not isinstance(value, bool) and value in _BY_ENUM:
        return _BY_ENUM[value]
    if value in (str, bytes):
        return _BY_NAME["string"]
    try:
        numpy = np.dtype(value)
    except TypeError as error:
        raise TypeError(f"{value!r} is not a data type; use one such as tf.int64 or np.int64") from error
    if numpy.kind in "SUO":
        return _BY_NAME["string"]
    found = _BY_NUMPY.get(numpy.newbyteorder("="))
    if found is None:
        raise TypeError(f"{value!r} has no TensorFlow data type; convert it to one of {sorted(DTYPES)}")
    return found


Shape = tuple[int | None, ...]


@dataclass(frozen=True, slots=True, init=False)
class TensorSpec:
    """Shape, data type and name of a tensor, as ``tf.TensorSpec``.

    Attributes:
      shape: a tuple with ``None`` for each unknown dimension; ``None`` when the rank is unknown.
      dtype: a :class:`DType`.
      name: a label, or ``None``; it takes no part in ``is_compatible_with``.
    """

    shape: Shape | None
    dtype: DType
    name: str | None

    def __init__(
        self, shape: Iterable[int | None] | int | None = (), dtype: Any = "float32", name: str | None = None
    ) -> None:
        dims = (shape,) if isinstance(shape, int) else shape
        object.__setattr__(self, "shape", None if dims is None else tuple(_dim(d) for d in dims))
        object.__setattr__(self, "dtype", as_dtype(dtype))
        object.__setattr__(self, "name", name)

    def is_compatible_with(self, value: Any) -> bool:
        """Whether ``value`` fits this spec: an array, or another spec with every array of its."""
        other = value if isinstance(value, TensorSpec) else spec_of(value)
        return self.dtype == other.dtype and self.admits(other.shape)

    def admits(self, shape: Shape | None) -> bool:
        """Whether an array of its dtype and that shape fits this spec."""
        own = self.shape
        if own is None or shape is None or own == shape:
            return True
        return len(own) == len(shape) and all(a is None or b is None or a == b for a, b in zip(own, shape, strict=True))

    def __repr__(self) -> str:
        shape = "<unknown>" if self.shape is None else self.shape
        return f"TensorSpec(shape={shape}, dtype={self.dtype!r}, name={self.name!r})"


def _dim(value: int | None) -> int | None:
    if value is None:
        return None
    if int(value) < -1:
        raise ValueError(f"a dimension must be a size, or None where it is unknown; got {value}")
    return None if int(value) == -1 else int(value)


def spec_of(leaf: Any) -> TensorSpec:
    """The exact spec of one array, scalar or string."""
    if isinstance(leaf, (bytes, str)):
        return TensorSpec((), "string")
    array = np.asarray(leaf)
    return TensorSpec(array.shape, array.dtype)


@dataclass(frozen=True, slots=True)
class DatasetSpec:
    """The spec of a component that is a dataset itself, as ``tf.data.DatasetSpec``.

    Attributes:
      element_spec: the nest of specs of that dataset's elements.
      dataset_shape: always ``()``.
    """

    element_spec: Any
    dataset_shape: Shape = ()

    def is_compatible_with(self, value: Any) -> bool:
        """Whether ``value``, a dataset or another spec of one, has elements of this spec."""
        return bool(self.element_spec == value.element_spec)
