"""What an element is: a nest of leaves, as ``tf.convert_to_tensor`` would read them.

A leaf is a NumPy scalar (``np.generic``) where it has no dimension, ``bytes`` where it is one string,
and an ``np.ndarray`` otherwise; arrays of strings are object arrays of ``bytes``. A window is a dataset. Dicts,
tuples and named tuples nest; a list is an array. Leaves are never written to, and what user code gives is copied where
that code could change it afterwards (:mod:`tfsvc.data.ownership`).
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.data.foreign import is_foreign, to_numpy
from tfsvc.specs import DTYPES, DatasetSpec, TensorSpec, as_dtype, spec_of

NUMBERS = frozenset(dtype.numpy for dtype in DTYPES.values() if dtype != "string")
"""The dtypes of leaves that are numbers."""
SCALARS: frozenset[type] = frozenset(dtype.type for dtype in NUMBERS)
"""The types of leaves that are one number."""
PLAIN: frozenset[type] = frozenset({*SCALARS, bytes})
"""The types of elements and leaves that never change."""
_INT32 = np.iinfo(np.int32)


class DatasetLeaf(ABC):
    """What a dataset is to elements that hold one."""

    @property
    @abstractmethod
    def element_spec(self) -> Any:
        """The nest of specs of its elements."""


def as_element(value: Any) -> Any:
    """The element that a user's value stands for.

    Raises:
      TypeError: if a part of it is neither a number, a string, an array nor a nest of these.
      ValueError: if a list has no rectangular shape, or a number does not fit 64 bits.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is np.ndarray:
        return value if value.ndim and value.dtype in NUMBERS else _from_array(value)
    if kind in PYTHONS:
        return as_leaf(value)
    if kind is tuple:
        return tuple(map(as_element, value))
    if isinstance(value, (tuple, Mapping)):
        return nest.rebuild(value, [as_element(child) for child in nest.children(value)])
    return as_leaf(value)


def as_leaf(value: Any) -> Any:
    """One component: see the module for what leaves are, and :func:`as_element` for the errors."""
    convert = _OF_PYTHON.get(type(value))
    if convert is not None:
        return convert(value)
    match value:
        case np.ndarray():
            return _from_array(value)
        case bytes():
            # np.bytes_ is a subclass; leaves are plain.
            return bytes(value)
        case str():
            return str.encode(value)
        case np.generic():
            return _from_array(np.asarray(value))
        case DatasetLeaf():
            return value
        case int():
            return _from_int(value)
        case float():
            return np.float32(value)
        case complex():
            return np.complex128(value)
        case list() | tuple() | range():
            return _from_sequence(value)
        case _ if is_foreign(value):
            return _from_array(to_numpy(value))
        case _:
            raise _not_an_element(value)


def _not_an_element(value: Any) -> TypeError:
    return TypeError(
        f"what is of type {type(value).__name__} cannot be part of a dataset's element: {value!r}; "
        "elements are numbers, strings, arrays, and tuples and dicts of these"
    )


def _from_int(value: int) -> Any:
    if _INT32.min <= value <= _INT32.max:
        return np.int32(value)
    try:
        return np.int64(value)
    except OverflowError as error:
        raise ValueError(f"{value} does not fit int64; give it a type of your choice, as np.uint64({value})") from error


_OF_PYTHON: dict[type, Callable[[Any], Any]] = {
    bool: np.bool_,
    int: _from_int,
    float: np.float32,
    str: str.encode,
}
PYTHONS = frozenset(_OF_PYTHON)
"""Python's own types of numbers and text, each of which becomes a leaf of another type."""


def column_of(values: list[Any]) -> Any:
    """The leaves for values of one of the types ``PYTHONS``, as an array or a list.

    Raises:
      Exception: what :func:`as_leaf` raises for the first that has none.
    """
    kind = type(values[0])
    if kind is bool or kind is float:
        return np.fromiter(values, np.bool_ if kind is bool else np.float32, len(values))
    if kind is int:
        with suppress(OverflowError):
            wide = np.fromiter(values, np.int64, len(values))
            if _fits_int32(wide):
                return wide.astype(np.int32)
    return list(map(_OF_PYTHON[kind], values))


def _from_array(array: Any) -> Any:
    if array.dtype.kind in "SUO":
        array = _strings(array)
    elif array.dtype not in NUMBERS:
        array = array.astype(as_dtype(array.dtype).numpy)
    return array if array.ndim else array[()]


def _strings(array: Any) -> Any:
    """Any array of text as an object array of ``bytes``."""
    result = np.empty(array.shape, object)
    for index, item in enumerate(array.flat):
        if isinstance(item, str):
            item = item.encode()
        elif not isinstance(item, bytes):
            raise TypeError(f"an object array may hold only strings, but this one holds a {type(item).__name__}")
        result.flat[index] = bytes(item)
    return result


def _from_sequence(value: Sequence[Any]) -> Any:
    """A list of any depth; Python's own numbers take the narrow types, as scalars do."""
    kinds = dict.fromkeys(map(type, _scalars(value))).keys()
    if kinds & {str, bytes}:
        if not kinds <= {str, bytes}:
            raise ValueError(f"a list cannot mix strings with other values: {value!r}")
        return _strings(_rectangle(value, object))
    array = _rectangle(value, None)
    if kinds <= {int, float} and kinds != {int}:
        return array.astype(np.float32)
    if kinds == {int} and array.dtype == np.int64 and _fits_int32(array):
        return array.astype(np.int32)
    if float in kinds and kinds - {int, float} <= SCALARS:
        # Python's numbers have no width of their own: beside float32 they are float32.
        return array.astype(np.result_type(*(kind for kind in kinds if kind in SCALARS), 0.0))
    return _from_array(array)


def _scalars(value: Any) -> Iterable[Any]:
    for item in value:
        if isinstance(item, (list, tuple)):
            yield from _scalars(item)
        else:
            yield item


def _rectangle(value: Sequence[Any], dtype: Any) -> Any:
    try:
        array = np.array(value, dtype)
    except ValueError as error:
        raise ValueError(f"a list must be rectangular to become an array: {value!r}") from error
    if any(isinstance(item, (list, tuple)) for item in (array.flat if array.dtype == object else ())):
        raise ValueError(f"a list must be rectangular to become an array: {value!r}")
    return array


def _fits_int32(array: Any) -> bool:
    return not array.size or bool(array.min() >= _INT32.min and array.max() <= _INT32.max)


def conform(value: Any, spec: TensorSpec) -> Any:
    """A leaf of the dtype and shape of ``spec``; numbers are cast as ``np.asarray`` does.

    Raises:
      TypeError: if text stands where a number belongs, or the other way round.
      ValueError, OverflowError: if the shape or the number does not fit.
    """
    if isinstance(value, (int, float)) and spec.shape == () and spec.dtype != "string":
        return spec.dtype.as_numpy_dtype(value)
    if type(value) is np.ndarray and _is_as(value, spec):
        return value
    leaf = as_leaf(value)
    if not np.size(leaf):
        # Nothing tells what an empty list is a list of.
        leaf = np.empty(np.shape(leaf), spec.dtype.numpy)
    if isinstance(leaf, bytes) or leaf.dtype == object:
        if spec.dtype != "string":
            raise TypeError(f"expected {spec.dtype!r} but got a string: {value!r}")
    elif spec.dtype == "string":
        raise TypeError(f"expected a string but got {value!r}")
    elif leaf.dtype != spec.dtype.numpy:
        leaf = leaf.astype(spec.dtype.numpy)
    if not spec.admits(np.shape(leaf)):
        raise ValueError(f"expected the shape {spec.shape} but got {np.shape(leaf)}")
    return leaf


def _is_as(array: Any, spec: TensorSpec) -> bool:
    """Whether an array is such a leaf as it stands, which is soon told of one that is not of strings."""
    dtype = array.dtype
    return bool(array.ndim) and dtype == spec.dtype.numpy and dtype.kind != "O" and spec.admits(array.shape)


def read_only(leaf: Any) -> Any:
    """The same leaf, an array as a view that cannot be written to."""
    if isinstance(leaf, np.ndarray):
        leaf = leaf.view()
        leaf.flags.writeable = False
    return leaf


def spec_of_element(element: Any) -> Any:
    """The nest of exact :class:`TensorSpec` of one element."""
    return nest.map_structure(_spec_of_leaf, element)


def _spec_of_leaf(leaf: Any) -> TensorSpec | DatasetSpec:
    return DatasetSpec(leaf.element_spec) if isinstance(leaf, DatasetLeaf) else spec_of(leaf)


def relax(specs: Iterable[Any]) -> Any:
    """The narrowest nest of specs that every one of ``specs`` fits; a dimension that varies becomes ``None``.

    Raises:
      TypeError: if they differ in structure or in dtype.
    """
    first, *others = specs
    for other in others:
        try:
            first = nest.map_structure(_relax_leaf, first, other)
        except ValueError as error:
            raise TypeError(str(error)) from error
    return first


def _relax_leaf(one: TensorSpec | DatasetSpec, two: TensorSpec | DatasetSpec) -> TensorSpec | DatasetSpec:
    if isinstance(one, DatasetSpec) and isinstance(two, DatasetSpec):
        return DatasetSpec(relax([one.element_spec, two.element_spec]))
    if isinstance(one, DatasetSpec) or isinstance(two, DatasetSpec) or one.dtype != two.dtype:
        raise TypeError(f"Incompatible dataset elements:\n  {one} vs.   {two}")
    if one.shape is None or two.shape is None or len(one.shape) != len(two.shape):
        return TensorSpec(None, one.dtype)
    return TensorSpec([a if a == b else None for a, b in zip(one.shape, two.shape, strict=True)], one.dtype)


def spread(examples: tuple[Any, ...], spec: Any) -> tuple[Any, ...]:
    """One or two examples, made to differ in each dimension that ``spec`` leaves open, and in rank where it does.

    They differ in size too where any dimension is open, since a function may make several dimensions into one.
    """
    first, last = examples[0], examples[-1]
    wider = nest.map_structure(_widen, spec, first, last)
    return examples if all(map(operator.is_, nest.flatten(wider), nest.flatten(last))) else (first, wider)


def _widen(spec: TensorSpec | DatasetSpec, first: Any, last: Any) -> Any:
    """``last``, one larger in each open dimension in which it is as large as ``first``, and not of the same size."""
    if isinstance(spec, DatasetSpec) or np.ndim(first) != np.ndim(last):
        return last
    if spec.shape is None:
        return np.array([last, last], object if isinstance(last, bytes) else None)
    sizes = zip(spec.shape, np.shape(first), np.shape(last), strict=True)
    shape = [b + 1 if dim is None and a == b else b for dim, a, b in sizes]
    if None in spec.shape:
        place = spec.shape.index(None)
        others = math.prod(shape[:place] + shape[place + 1 :])
        while others and (shape[place] * others == np.size(first) or shape[place] == np.shape(first)[place]):
            shape[place] += 1
    if tuple(shape) == np.shape(last):
        return last
    return np.resize(last, shape) if last.size else _zero_leaf(TensorSpec(shape, spec.dtype))


def zero_element(specs: Any) -> Any:
    """An element of zeros and empty strings that fits ``specs``; unknown dimensions have size 1."""
    return nest.map_structure(_zero_leaf, specs)


def _zero_leaf(spec: TensorSpec) -> Any:
    shape = tuple(1 if dim is None else dim for dim in spec.shape or ())
    return np.full(shape, b"" if spec.dtype == "string" else 0, spec.dtype.numpy)[()]


def zero_examples(specs: Any) -> tuple[Any, ...]:
    """One or two such elements, which differ in each dimension that ``specs`` leaves open."""
    return spread((zero_element(specs),), specs)


def ends(several: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """The first and the last of each group of examples: where a dimension varies within a group, these differ in it."""
    found: list[Any] = []
    for examples in several:
        found += [examples[0], examples[-1]] if len(examples) > 1 else [examples[0]]
    return tuple(found)
