"""Arrow's columns as columns of elements, and Arrow's types as specs. Needs the extra ``tfsvc[arrow]``.

| Arrow | element |
|---|---|
| integers, floats, booleans | scalars of the same type |
| strings and binaries of every kind | ``bytes`` |
| dates, times, timestamps, durations | the whole number that Arrow keeps, in the type's own unit: int32 or int64 |
| lists | vectors, of a length that varies |
| lists of a fixed size, tensors of a fixed shape | arrays |
| structs | dicts |
| dictionaries | their values |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfsvc.columns import Columns, Leaf
from tfsvc.data.stacking import positions
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tfsvc.specs import TensorSpec

_FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}
"""Arrow's names for what has another name here."""


def arrow() -> Any:
    """The module ``pyarrow``.

    Raises:
      FailedPreconditionError: if it is not installed.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise FailedPreconditionError(
            message="Arrow and Parquet need pyarrow, which is not installed here; pip install 'tfsvc[arrow]'"
        ) from error
    return pyarrow


def spec_of_schema(schema: Any, columns: Sequence[str], where: str) -> dict[str, Any]:
    """The spec of a row.

    Args:
      schema: Arrow's.
      columns: the names of the columns that are read.
      where: what has this schema, for messages.

    Raises:
      ValueError: if there is no such column, or two have one name.
      UnimplementedError: if a column has a type without counterpart.
    """
    for column in columns:
        if schema.names.count(column) != 1:
            raise ValueError(f"{where} has {schema.names.count(column)} columns {column!r}; it has {schema.names}")
    return {column: _spec(schema.field(column).type, column) for column in columns}


def _spec(kind: Any, column: str) -> Any:
    types = arrow().types
    if types.is_dictionary(kind):
        return _spec(kind.value_type, column)
    if isinstance(kind, arrow().BaseExtensionType):
        return _spec(kind.storage_type, column) if not _is_tensor(kind) else _tensor_spec(kind, column)
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return TensorSpec((), _FLOATS.get(str(kind), str(kind)))
    if types.is_temporal(kind) and not types.is_interval(kind):
        return TensorSpec((), f"int{kind.bit_width}")
    if _is_text(kind):
        return TensorSpec((), "string")
    if types.is_struct(kind):
        return {field.name: _spec(field.type, f"{column}.{field.name}") for field in kind}
    if _is_list(kind):
        item = _spec(kind.value_type, column)
        if isinstance(item, TensorSpec) and item.shape is not None and None not in item.shape:
            size = kind.list_size if types.is_fixed_size_list(kind) else None
            return TensorSpec((size, *item.shape), item.dtype)
    raise _without_counterpart(kind, column)


def _tensor_spec(kind: Any, column: str) -> TensorSpec:
    if kind.permutation not in (None, list(range(len(kind.shape)))):
        raise _without_counterpart(kind, column)
    item = _spec(kind.value_type, column)
    return TensorSpec((*kind.shape, *item.shape), item.dtype)


def _without_counterpart(kind: Any, column: str) -> UnimplementedError:
    return UnimplementedError(
        message=f"column {column!r} has the type {kind}, which no element can have; cast it, or leave it out "
        "with columns=[...]"
    )


def columns_of(batch: Any, spec: Mapping[str, Any], defaults: Mapping[str, Any]) -> Columns:
    """The rows of a record batch.

    Args:
      batch: a ``pyarrow.RecordBatch``.
      spec: of a row, as :func:`spec_of_schema` gives it.
      defaults: what stands for null in a column, by name; ``"a.b"`` is field b of a struct. Without one, null is NaN in
        a column of floats and an error in others.

    Raises:
      InvalidArgumentError: if there is a null and nothing stands for it.
    """
    # Leaves come in the order of sorted keys.
    leaves = [leaf for name in sorted(spec) for leaf in _leaves(batch.column(name), name, defaults)]
    return Columns(positions(spec), tuple(leaves), batch.num_rows)


def default_names(spec: Any, column: str = "") -> list[str]:
    """The names that ``defaults`` may have."""
    if not isinstance(spec, Mapping):
        return [column]
    return [name for key in spec for name in default_names(spec[key], f"{column}.{key}" if column else key)]


def _leaves(array: Any, column: str, defaults: Mapping[str, Any]) -> list[Leaf]:
    types, kind = arrow().types, array.type
    if types.is_struct(kind):
        fields = dict(zip((field.name for field in kind), array.flatten(), strict=True))
        return [leaf for name in sorted(fields) for leaf in _leaves(fields[name], f"{column}.{name}", defaults)]
    return [_leaf(array, column, defaults)]


def _leaf(array: Any, column: str, defaults: Mapping[str, Any]) -> Leaf:
    types, kind = arrow().types, array.type
    if types.is_dictionary(kind):
        return _leaf(array.dictionary_decode(), column, defaults)
    if isinstance(kind, arrow().BaseExtensionType):
        rows = _leaf(array.storage, column, defaults)
        return np.reshape(rows, (len(array), *kind.shape)) if _is_tensor(kind) else rows
    if types.is_temporal(kind):
        array = array.view(f"int{kind.bit_width}")
    if array.null_count:
        array = _without_nulls(array, column, defaults)
    if _is_list(kind):
        return _lists(array, column, defaults)
    if _is_text(kind):
        array = array.cast(arrow().large_binary())
    found: np.ndarray[Any, Any] = array.to_numpy(zero_copy_only=False)
    return found


def _lists(array: Any, column: str, defaults: Mapping[str, Any]) -> Leaf:
    items = _leaf(array.flatten(), column, defaults)
    if arrow().types.is_fixed_size_list(array.type):
        return np.reshape(items, (len(array), array.type.list_size, *np.shape(items)[1:]))
    ends = array.offsets.to_numpy()
    ends = ends - ends[0]
    sizes = np.diff(ends)
    if (sizes == sizes[0]).all():
        return np.reshape(items, (len(array), sizes[0], *np.shape(items)[1:]))
    return tuple(items[lo:hi] for lo, hi in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))


def _without_nulls(array: Any, column: str, defaults: Mapping[str, Any]) -> Any:
    if column in defaults:
        return array.fill_null(arrow().scalar(defaults[column], array.type))
    if arrow().types.is_floating(array.type):
        return array.fill_null(float("nan"))
    raise InvalidArgumentError(
        message=f"column {column!r} holds a null, and no element can; say what stands for it with "
        f"defaults={{{column!r}: ...}}"
    )


def _is_text(kind: Any) -> bool:
    types = arrow().types
    tests = (
        *(types.is_string, types.is_large_string, types.is_string_view),
        *(types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary),
    )
    return any(test(kind) for test in tests)


def _is_list(kind: Any) -> bool:
    types = arrow().types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_tensor(kind: Any) -> bool:
    return isinstance(kind, arrow().FixedShapeTensorType)
