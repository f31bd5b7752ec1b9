"""Methods of ``Dataset`` under the names they had first: functions of a dataset, most of them for ``Dataset.apply``.

The arguments are those of the methods of the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfsvc.data.dataset import Dataset
from tfsvc.data.elements import zero_element
from tfsvc.data.functions import call_for_element
from tfsvc.data.iterators import DatasetIterator
from tfsvc.data.ops.assert_cardinality import AssertCardinality
from tfsvc.data.optional import Optional
from tfsvc.errors import OutOfRangeError

Transformation = Callable[[Dataset], Dataset]


def assert_cardinality(expected_cardinality: int) -> Transformation:
    """The same elements with a cardinality that the user knows.

    Args:
      expected_cardinality: how many elements there are, or ``INFINITE_CARDINALITY``.

    Raises:
      FailedPreconditionError: on iteration, if there are more or fewer. Under dynamic sharding nobody counts.
    """
    return lambda dataset: Dataset(AssertCardinality(dataset.operator, int(expected_cardinality)))


def at(dataset: Dataset, index: int) -> Any:
    """Element number ``index``.

    Raises:
      OutOfRangeError: if there are not as many.
    """
    try:
        return next(iter(dataset.skip(int(index)))) if index >= 0 else next(iter(()))
    except StopIteration:
        raise OutOfRangeError(message=f"Index out of range: there is no element {index}.") from None


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """As :meth:`Dataset.bucket_by_sequence_length`."""
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes,
        padding_values,
        pad_to_bucket_boundary,
        no_padding,
        drop_remainder,
    )


def cardinality(dataset: Dataset) -> Any:
    """As :meth:`Dataset.cardinality`."""
    return dataset.cardinality()


def choose_from_datasets(
    datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """As :meth:`Dataset.choose_from_datasets`, but passes over ended datasets when not told otherwise."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """The same dataset: elements are NumPy arrays, which every trainer puts on its device itself."""
    return lambda dataset: dataset


def enable_debug_mode() -> None:
    """Does nothing: functions are always run as Python, and a debugger stops in them."""


def enumerate_dataset(start: int = 0) -> Transformation:
    """As :meth:`Dataset.enumerate`."""
    return lambda dataset: dataset.enumerate(start)


def get_next_as_optional(iterator: DatasetIterator) -> Optional:
    """As the iterator's method."""
    return iterator.get_next_as_optional()


def get_single_element(dataset: Dataset) -> Any:
    """As :meth:`Dataset.get_single_element`."""
    return dataset.get_single_element()


def get_structure(dataset_or_iterator: Any) -> Any:
    """The ``element_spec`` of a dataset or an iterator.

    Raises:
      TypeError: if it has none.
    """
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(f"expected a dataset or an iterator, not {dataset_or_iterator!r}") from None


@dataclass(frozen=True)
class Reducer:
    """How elements are reduced by :func:`group_by_reducer`.

    Attributes:
      init_func: from an int64 key to the first state.
      reduce_func: from a state and an element to the next state.
      finalize_func: from the last state to the result.
    """

    init_func: Callable[..., Any]
    reduce_func: Callable[..., Any]
    finalize_func: Callable[..., Any]


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """What becomes of the elements of each key, in the order of keys, once all elements are there.

    Args:
      key_func: from an element to its key, an integer scalar.
      reducer: what becomes of the elements of one key. They are held in memory until the end.
    """

    def reduced(key: Any, group: Dataset) -> Dataset:
        state = group.reduce(reducer.init_func(key), reducer.reduce_func)
        return Dataset.from_tensors(call_for_element(reducer.finalize_func, state))

    return lambda dataset: dataset.group_by_window(key_func, reduced, window_size=2**63 - 1)


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: int | None = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:
    """As :meth:`Dataset.group_by_window`."""
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)


def ignore_errors(log_warning: bool = False) -> Transformation:
    """As :meth:`Dataset.ignore_errors`."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def load(
    path: Any, element_spec: Any = None, compression: str | None = None, reader_func: Callable[..., Any] | None = None
) -> Dataset:
    """As :meth:`Dataset.load`."""
    return Dataset.load(path, element_spec, compression, reader_func)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: int,
    num_parallel_batches: int | None = None,
    drop_remainder: bool = False,
    num_parallel_calls: int | None = None,
) -> Transformation:
    """``map``, then ``batch``.

    Args:
      map_func: as for :meth:`Dataset.map`.
      batch_size: as for :meth:`Dataset.batch`.
      num_parallel_batches: calls at a time, as a number of batches.
      drop_remainder: as for :meth:`Dataset.batch`.
      num_parallel_calls: calls at a time; one batch of them when neither is given.

    Raises:
      ValueError: if both numbers are given.
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError("`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls`.")
    calls = num_parallel_calls or batch_size * (num_parallel_batches or 1)
    return lambda dataset: dataset.map(map_func, num_parallel_calls=calls).batch(batch_size, drop_remainder)


def pad_to_cardinality(cardinality: int, mask_key: str = "valid") -> Transformation:
    """Dicts with zeros and empty strings behind them, so that there are ``cardinality`` elements.

    Args:
      cardinality: how many elements there are to be.
      mask_key: a further key of each dict; true where the element was there before.

    Raises:
      ValueError: if elements are no dicts, or have that key, or there are more of them or nobody knows how many.
    """

    def padded(dataset: Dataset) -> Dataset:
        spec, count = dataset.element_spec, len(dataset) if dataset.cardinality() >= 0 else -1
        if not isinstance(spec, Mapping) or mask_key in spec:
            raise ValueError(
                f"`pad_to_cardinality` needs elements that are dicts without {mask_key!r}, but got {spec}."
            )
        if not 0 <= count <= cardinality:
            raise ValueError(f"The dataset must have a known number of elements, at most {cardinality}.")
        valid = dataset.map(lambda element: {**element, mask_key: np.True_})
        filler = Dataset.from_tensors({**zero_element(spec), mask_key: np.False_})
        return valid.concatenate(filler.repeat(cardinality - count))

    return padded


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: int,
    block_length: int = 1,
    sloppy: bool | None = False,
    buffer_output_elements: int | None = None,
    prefetch_input_elements: int | None = None,
) -> Transformation:
    """As :meth:`Dataset.interleave`; the order is always fixed, and buffers are hints."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, num_parallel_calls=cycle_length)


def prefetch_to_device(device: str, buffer_size: int | None = None) -> Transformation:
    """As :meth:`Dataset.prefetch`: elements are NumPy arrays, which every trainer puts on its device itself."""
    return lambda dataset: dataset.prefetch(buffer_size)


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: int | None = None
) -> Transformation:
    """As :meth:`Dataset.rejection_resample`."""
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def sample_from_datasets(
    datasets: Sequence[Dataset], weights: Any = None, seed: int | None = None, stop_on_empty_dataset: bool = False
) -> Dataset:
    """As :meth:`Dataset.sample_from_datasets`."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def save(
    dataset: Dataset,
    path: Any,
    compression: str | None = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: dict[str, Any] | None = None,
) -> None:
    """As :meth:`Dataset.save`."""
    dataset.save(path, compression, shard_func, checkpoint_args)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """As :meth:`Dataset.scan`."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def shuffle_and_repeat(buffer_size: int, count: int | None = None, seed: int | None = None) -> Transformation:
    """``shuffle``, then ``repeat``."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def snapshot(
    path: Any,
    compression: str | None = "AUTO",
    reader_func: Callable[..., Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Transformation:
    """As :meth:`Dataset.snapshot`."""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """As :meth:`Dataset.take_while`."""
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Transformation:
    """As :meth:`Dataset.unbatch`."""
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """As :meth:`Dataset.unique`."""
    return lambda dataset: dataset.unique()
