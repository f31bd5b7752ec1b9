"""How values become tensors, and functions become operations of the default graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfsvc.compat.v1.graph import Operation, Tensor, get_default_graph
from tfsvc.specs import DType, Shape, as_dtype
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.tensors import shape_proto, to_proto, wire_dtype

FLOAT32 = as_dtype("float32")
INT32 = as_dtype("int32")
INT64 = as_dtype("int64")
BOOL = as_dtype("bool")


def attr(value: Any) -> pb.AttrValue:
    """An attribute: of a data type, a shape (a tuple or ``None``), a text, a number, a truth or an array."""
    match value:
        case DType():
            return pb.AttrValue(type=wire_dtype(value))
        case tuple() | None:
            return pb.AttrValue(shape=shape_proto(value))
        case bool():
            return pb.AttrValue(b=value)
        case int():
            return pb.AttrValue(i=value)
        case float():
            return pb.AttrValue(f=value)
        case str():
            return pb.AttrValue(s=value.encode())
        case list():
            return pb.AttrValue(list=pb.AttrValue.ListValue(i=value))
        case _:
            return pb.AttrValue(tensor=to_proto(value))


def make(
    op: str, inputs: Sequence[Tensor], dtypes: Sequence[DType], name: str | None = None, /, **attrs: Any
) -> Operation:
    """A new operation of the default graph."""
    messages: Mapping[str, pb.AttrValue] = {key: attr(value) for key, value in attrs.items()}
    return get_default_graph().add(op, inputs, dtypes, messages, name or op)


def make_one(op: str, inputs: Sequence[Tensor], dtype: DType, name: str | None = None, /, **attrs: Any) -> Tensor:
    """The result of a new operation that has one."""
    return make(op, inputs, (dtype,), name, **attrs).outputs[0]


def constant(value: Any, dtype: Any = None, shape: Sequence[int] | None = None, name: str = "Const") -> Tensor:
    """A constant.

    Args:
      value: an array or what NumPy makes one of; Python's numbers become float32 and int32.
      dtype: its data type, where it is not to be that of ``value``.
      shape: a shape to give it; a single value is repeated.
      name: of the operation.
    """
    array = _array(value, dtype)
    if shape is not None:
        wanted = tuple(shape)
        array = np.full(wanted, array, array.dtype) if array.size == 1 else array.reshape(wanted)
    kind = as_dtype(array.dtype)
    tensor = make_one("Const", (), kind, name, dtype=kind, value=array)
    tensor.shape = array.shape
    return tensor


def convert_to_tensor(value: Any, dtype: Any = None, name: str = "Const") -> Tensor:
    """``value`` as a tensor of the default graph.

    Raises:
      TypeError: if it is a tensor of another data type than ``dtype``.
    """
    if hasattr(value, "_as_operand"):
        value = value._as_operand()
    if not isinstance(value, Tensor):
        return constant(value, dtype, name=name)
    if dtype is not None and value.dtype != as_dtype(dtype):
        raise TypeError(f"{value!r} is not of data type {as_dtype(dtype).name}; use `tf.cast`")
    return value


def together(values: Sequence[Any]) -> list[Tensor]:
    """Values as tensors of one data type: that of the first that has one.

    Raises:
      TypeError: if two of them are tensors of different data types.
    """
    typed = (value for value in values if isinstance(value, Tensor) or hasattr(value, "_as_operand"))
    first = next(typed, None)
    dtype = None if first is None else first.dtype
    found = [convert_to_tensor(value, dtype) for value in values]
    kinds = dict.fromkeys(each.dtype for each in found)
    if len(kinds) > 1:
        raise TypeError(f"These must be of one data type, not {' and '.join(kind.name for kind in kinds)}")
    return found


def shape_of(shape: Any) -> Shape | None:
    """A shape from what users write for one."""
    if shape is None:
        return None
    dims = (shape,) if isinstance(shape, int) else tuple(shape)
    return tuple(None if d is None or d == -1 else int(d) for d in dims)


def _array(value: Any, dtype: Any) -> Any:
    if dtype is not None:
        kind = as_dtype(dtype)
        if kind.name == "string":
            return np.array(value, object)
        array = np.asarray(value)
        if array.dtype.kind == "f" and kind.numpy.kind in "iu":
            raise TypeError(f"Cannot convert {value!r} to a tensor of data type {kind.name}")
        return array.astype(kind.numpy)
    if _is_text(value):
        return np.array(value, object)
    array = np.asarray(value)
    if isinstance(value, np.ndarray | np.generic):
        return array
    plain = {"f": np.float32, "i": np.int32}.get(array.dtype.kind)
    return array if plain is None or _has_numpy(value) else array.astype(plain)


def _is_text(value: Any) -> bool:
    """Whether it is a text, or a list of texts: NumPy would make other bytes of some."""
    if isinstance(value, list | tuple):
        return bool(value) and _is_text(value[0])
    return isinstance(value, bytes | str)


def _has_numpy(value: Any) -> bool:
    """Whether a list has NumPy's numbers in it, whose type is meant."""
    if isinstance(value, list | tuple):
        return any(map(_has_numpy, value))
    return isinstance(value, np.ndarray | np.generic)
