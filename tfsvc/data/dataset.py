"""The public ``Dataset``: where elements come from, and how they are read."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakSet

import numpy as np

from tfsvc import nest
from tfsvc.data.elements import as_element, as_leaf
from tfsvc.data.operator import INFINITE, UNKNOWN, Context, Operator
from tfsvc.data.ops.flat_map import FlatMap
from tfsvc.data.ops.generator import Generator
from tfsvc.data.ops.interleave import Interleave
from tfsvc.data.ops.list_files import matching_files
from tfsvc.data.ops.range import Range
from tfsvc.data.ops.tensor_slices import TensorSlices
from tfsvc.data.ops.tensors import Tensors
from tfsvc.data.ops.text import ReadLines
from tfsvc.data.ops.zip import Zip
from tfsvc.data.stacking import positions
from tfsvc.data.transformations import Transformations
from tfsvc.specs import TensorSpec, as_dtype


class Dataset(Transformations):
    """A sequence of elements, as ``tf.data.Dataset``: it says how to make them, and runs when iterated.

    Args:
      operator: the graph node that makes the elements.
    """

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self._passes = 0

    def _then(self, operator: Operator) -> Dataset:
        return Dataset(operator)

    @staticmethod
    def range(*args: int, output_type: Any = "int64", name: str | None = None) -> Dataset:
        """Scalars, as Python's ``range(stop)``, ``range(start, stop)`` or ``range(start, stop, step)``.

        Args:
          *args: one to three whole numbers.
          output_type: the dtype, int64 when not given.
          name: a label.

        Raises:
          ValueError: if there are no arguments or more than three.
          InvalidArgumentError: if ``step`` is 0.
        """
        match [int(arg) for arg in args]:
            case [stop]:
                start, step = 0, 1
            case [start, stop]:
                step = 1
            case [start, stop, step]:
                pass
            case _:
                raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        return Dataset(Range(start, stop, step, as_dtype(output_type)))

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """``tensors`` as the one element.

        Raises:
          TypeError: if a part is neither a number, a string, an array nor a nest of these.
        """
        return Dataset(Tensors(as_element(tensors)))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The rows of ``tensors`` along their first dimension. Arrays are not copied.

        Raises:
          ValueError: if a component is a scalar, or components differ in their number of rows.
          TypeError: as :meth:`from_tensors`.
        """
        return Dataset(TensorSlices(as_element(tensors)))

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Sequence[Any] | None = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """What iterating ``generator(*args)`` gives; every pass calls it anew.

        Args:
          generator: a function of an iterable.
          output_types: the nest of dtypes of an element, where there is no ``output_signature``.
          output_shapes: the nest of shapes beside ``output_types``; unknown when not given.
          args: arguments of ``generator``, handed over as arrays and NumPy scalars.
          output_signature: the nest of :class:`TensorSpec` of an element.
          name: a label.

        Raises:
          TypeError: if ``generator`` is not callable, or no signature is given, or two are.
          InvalidArgumentError: on iteration, if a value does not fit the signature.
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if (output_signature is None) == (output_types is None):
            raise TypeError("give either `output_signature` or `output_types` (with `output_shapes`), and not both")
        if output_signature is None:
            output_signature = _signature(output_types, output_shapes)
        return Dataset(Generator(generator, tuple(as_leaf(arg) for arg in args or ()), output_signature))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: int | None = None, name: str | None = None
    ) -> Dataset:
        """The names of the files that match, found once, now; a split is one file.

        Args:
          file_pattern: one or more patterns with ``*``, ``?`` and ``[...]``.
          shuffle: whether they come in random order, ``True`` when not given; else sorted by name.
          seed: of the order, as for :meth:`shuffle`.
          name: a label.

        Raises:
          InvalidArgumentError: if no file matches.
        """
        found = matching_files(_text_array(file_pattern))
        dataset = Dataset(TensorSlices(np.array(found, object)))
        return dataset if shuffle is False else dataset.shuffle(len(found), seed)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """One element of each dataset at a time, until the shortest ends.

        Args:
          *args: datasets, or one nest of datasets; elements have its form.
          datasets: the nest, as an alternative.
          name: a label.

        Raises:
          TypeError: if there is none, if both are given, or if a leaf is not a dataset.
        """
        if bool(args) == (datasets is not None):
            raise TypeError("Both `*args` and `datasets` cannot be set." if args else "Must pass at least one dataset.")
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        leaves = [] if isinstance(structure, list) else nest.flatten(structure)
        if not leaves or not all(isinstance(leaf, Dataset) for leaf in leaves):
            raise TypeError(
                f"Invalid input to `zip`: expected (nested) tuples or dicts of datasets, got {structure!r}."
            )
        return Dataset(Zip(tuple(leaf.operator for leaf in leaves), positions(structure)))

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """``transformation_func(self)``.

        Raises:
          TypeError: if that is not a dataset.
        """
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(dataset)}.")
        return dataset

    @property
    def element_spec(self) -> Any:
        """The nest of :class:`TensorSpec` of an element, found when first asked for.

        A Python function is probed with one or two example elements; what it raises comes through.
        """
        return self.operator.spec()

    def cardinality(self) -> Any:
        """The number of elements as an int64 scalar, ``INFINITE_CARDINALITY`` or ``UNKNOWN_CARDINALITY``."""
        return np.int64(self.operator.cardinality())

    def __len__(self) -> int:
        count = self.operator.cardinality()
        if count == INFINITE:
            raise TypeError("The dataset is infinite.")
        if count == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return count

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> DatasetIterator:
        iterator = DatasetIterator(self.operator, Context(path=(self._passes,)))
        self._passes += 1
        return iterator

    def as_numpy_iterator(self) -> DatasetIterator:
        """The same as iterating: elements are NumPy's anyway."""
        return iter(self)

    def __reduce__(self) -> Any:
        # How often it was iterated here is no part of what a dataset is.
        return Dataset, (self.operator,)

    def __repr__(self) -> str:
        return f"<Dataset {_chain(self.operator)}>"


class DatasetIterator(Iterator[Any]):
    """One pass over a dataset in this process, whole and in order; several threads may share it."""

    def __init__(self, operator: Operator, context: Context) -> None:
        self._operator = operator
        self._iterator = operator.iterator(context)
        self._turn = threading.Lock()
        _iterators.add(self)

    @property
    def element_spec(self) -> Any:
        """The nest of :class:`TensorSpec` of an element."""
        return self._operator.spec()

    def __next__(self) -> Any:
        with self._turn:
            return self._iterator.next()

    def get_next(self) -> Any:
        """The next element, as ``next()``."""
        return next(self)


_iterators: WeakSet[DatasetIterator] = WeakSet()


def _free_turns() -> None:
    """A forked child has none of the threads whose turn it may have been."""
    for iterator in _iterators:
        iterator._turn = threading.Lock()


os.register_at_fork(after_in_child=_free_turns)


class TextLineDataset(Dataset):
    """The lines of text files as scalar strings without their ends, one file after the other; a split is a file.

    Args:
      filenames: one or more names, or a dataset of names.
      compression_type: ``None`` or "" for plain text, "GZIP" or "ZLIB".
      buffer_size: a hint, in bytes.
      num_parallel_reads: when given, the lines of so many files come in turns.
      name: a label.

    Raises:
      InvalidArgumentError: on iteration, if there is no such compression.
      NotFoundError: on iteration, if a file is missing.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        names = filenames if isinstance(filenames, Dataset) else Dataset(TensorSlices(_text_array(filenames)))
        read = ReadLines(compression_type or "")
        if num_parallel_reads is None:
            super().__init__(FlatMap(names.operator, read))
        else:
            super().__init__(Interleave(names.operator, read, max(1, num_parallel_reads), 1))


def _signature(types: Any, shapes: Any) -> Any:
    # Shapes are tuples themselves, so only the types say where the leaves are.
    if not nest.is_nested(types):
        return TensorSpec(shapes, types)
    children = nest.children(types)
    below = [None] * len(children) if shapes is None else nest.children(shapes)
    return nest.rebuild(types, [_signature(t, s) for t, s in zip(children, below, strict=True)])


def _text_array(value: Any) -> Any:
    """One or more names as a vector of strings, also when there are none."""
    leaf = as_leaf(value) if np.size(value) else np.empty(0, object)
    return np.atleast_1d(np.asarray(leaf, object))


def _chain(operator: Operator) -> str:
    inputs = operator.inputs
    if not inputs:
        return operator.name
    below = _chain(inputs[0]) if len(inputs) == 1 else f"({', '.join(map(_chain, inputs))})"
    return f"{below} > {operator.name}"
