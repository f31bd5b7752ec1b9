"""``Dataset.padded_batch``: consecutive elements of different shapes, padded and stacked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from tfsvc import nest
from tfsvc.data.elements import as_leaf, conform
from tfsvc.data.operator import Context, OperatorIterator, UnaryOperator
from tfsvc.data.ops.batch import batches_of, unlike_batches
from tfsvc.data.stacking import transposed
from tfsvc.errors import DataLossError, InvalidArgumentError
from tfsvc.specs import Shape, TensorSpec, spec_of


@dataclass(frozen=True, eq=False)
class PaddedBatch(UnaryOperator):
    """``size`` elements as one, each component padded to its shape in ``shapes``.

    Attributes:
      shapes: a nest of shapes of the form of an element, or ``None`` for the shapes of the input; an unknown
        dimension is padded to ``open_to``.
      values: a nest of scalars, one scalar for all, or ``None`` for zeros and empty strings.
      open_to: the size of the dimensions that ``shapes`` leaves open; -1 for that of the largest of the batch.
    """

    size: int
    shapes: Any
    values: Any
    drop_remainder: bool
    open_to: int = -1
    name = "padded_batch"
    shards_by_file = True

    def __post_init__(self) -> None:
        if self.spec_is_given:
            self.spec()
        if self.size <= 0:
            raise InvalidArgumentError(message="Batch size must be greater than zero.")

    def cardinality(self) -> int:
        return batches_of(self.input.cardinality(), self.size, self.drop_remainder)

    def iterator(self, context: Context) -> OperatorIterator:
        return _PaddedBatchIterator(self, context)

    def stack(self, rows: Sequence[Any]) -> Any:
        """One element of the padded rows.

        Raises:
          InvalidArgumentError: if they differ in structure, dtype or number of dimensions.
          DataLossError: if one is larger than its padded shape.
        """
        form = rows[0]
        columns = transposed(rows)
        shapes = [None] * len(columns) if self.shapes is None else _flat_shapes(form, self.shapes)
        triples = zip(columns, shapes, _flat_values(form, self.values), strict=True)
        return nest.pack_sequence_as(form, [_pad(*triple, self.open_to) for triple in triples])

    def _make_spec(self) -> Any:
        return self.padded(self.input.spec())

    def padded(self, spec: Any) -> Any:
        """The spec of a batch of elements of ``spec``."""
        leaves = nest.flatten(spec)
        shapes = [leaf.shape for leaf in leaves] if self.shapes is None else _flat_shapes(spec, self.shapes)
        rows = self.size if self.drop_remainder else None
        batched = []
        for place, (leaf, shape, value) in enumerate(zip(leaves, shapes, _flat_values(spec, self.values), strict=True)):
            if shape is None:
                raise ValueError(f"You must provide `padded_shapes`, because component {place} has unknown rank.")
            _check_shape(shape, leaf)
            _fill_value(value, leaf)
            batched.append(TensorSpec((rows, *shape), leaf.dtype))
        return nest.pack_sequence_as(spec, batched)

    def _make_examples(self) -> tuple[Any, ...]:
        examples = self.input.examples()
        if self.drop_remainder:
            return tuple(self.stack([example] * self.size) for example in examples)
        return unlike_batches(examples, self.size, self.stack)


def _flat_shapes(form: Any, shapes: Any) -> list[Shape | None]:
    """The shapes of a nest of the form of ``form``; shapes are sequences themselves, so only ``form`` tells leaves."""
    if not nest.is_nested(form):
        return [TensorSpec(shapes).shape]
    pairs = zip(nest.children(form), nest.children(shapes), strict=True)
    return [shape for child, below in pairs for shape in _flat_shapes(child, below)]


def _flat_values(form: Any, values: Any) -> list[Any]:
    if nest.is_nested(values):
        nest.assert_same_structure(form, values)
        return nest.flatten(values)
    return [values] * len(nest.flatten(form))


def _check_shape(shape: Shape, spec: TensorSpec) -> None:
    if spec.shape is not None and (
        len(shape) != len(spec.shape)
        or any(a is not None and b is not None and a < b for a, b in zip(shape, spec.shape, strict=True))
    ):
        raise ValueError(
            f"The padded shape {shape} is not compatible with the shape {spec.shape} of the corresponding input "
            "component."
        )


def _fill_value(value: Any, spec: TensorSpec) -> Any:
    """The scalar to pad with; Python's own numbers take the component's dtype where they have its kind."""
    if value is None:
        return b"" if spec.dtype == "string" else spec.dtype.as_numpy_dtype(0)
    if np.ndim(value):
        raise ValueError(f"Invalid `padding_values`. `padding_values` values should be scalars, but got {value!r}.")
    whole = type(value) is int and spec.dtype != "string"
    if whole or (type(value) is float and spec.dtype.numpy.kind == "f"):
        return conform(value, TensorSpec((), spec.dtype))
    leaf = as_leaf(value)
    if spec_of(leaf).dtype != spec.dtype:
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` values type {spec_of(leaf).dtype!r} does not match type "
            f"{spec.dtype!r} of the corresponding input component."
        )
    return leaf


def _pad(rows: Sequence[Any], shape: Shape | None, value: Any, open_to: int) -> Any:
    arrays = [
        row if isinstance(row, np.ndarray) else np.asarray(row, object if isinstance(row, bytes) else None)
        for row in rows
    ]
    first = arrays[0]
    wanted = (None,) * first.ndim if shape is None else shape
    sizes = list(map(_shape, arrays))
    if set(map(_dtype, arrays)) != {first.dtype} or set(map(len, sizes)) != {len(wanted)}:
        raise InvalidArgumentError(
            message="All elements in a batch must have the same dtype, and the same rank as the padded shape for the "
            f"component: expected {first.dtype.name} of rank {len(wanted)}."
        )
    largest = [max(each) for each in zip(*sizes, strict=True)]
    sizes_of_open = largest if open_to == -1 else [open_to] * len(largest)
    dims = tuple(size if dim is None else dim for dim, size in zip(wanted, sizes_of_open, strict=True))
    if any(dim < size for dim, size in zip(dims, largest, strict=True)):
        raise DataLossError(
            message=f"Attempted to pad to a smaller size than the input element: {list(dims)} is less than {largest}."
        )
    fill = _fill_value(value, TensorSpec((), first.dtype))
    if set(sizes) == {dims}:
        return np.stack(arrays)
    result = np.full((len(arrays), *dims), fill, first.dtype)
    if len(dims) == 1:
        result[np.arange(dims[0]) < np.array(sizes)] = np.concatenate(arrays)
        return result
    for index, array in enumerate(arrays):
        place: Any = (index, *map(slice, array.shape))
        result[place] = array
    return result


_dtype = attrgetter("dtype")
_shape = attrgetter("shape")


class _PaddedBatchIterator(OperatorIterator):
    def __init__(self, batch: PaddedBatch, context: Context) -> None:
        self._batch = batch
        self._input = batch.input.iterator(context)
        self._rows: list[Any] = []

    def next(self) -> Any:
        try:
            while (missing := self._batch.size - len(self._rows)) > 0:
                block = self._input.block(missing)
                self._rows.extend([self._input.next()] if block is None else block.elements())
        except StopIteration:
            if not self._rows or self._batch.drop_remainder:
                raise
        rows, self._rows = self._rows, []
        return self._batch.stack(rows)

    def save(self) -> Any:
        return list(self._rows), self._input.save()

    def load(self, state: Any) -> None:
        rows, input = state
        self._rows = list(rows)
        self._input.load(input)
