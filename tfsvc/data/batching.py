"""The methods that make one element of several, or several of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfsvc.data.arguments import check_function, whole
from tfsvc.data.chain import Chain
from tfsvc.data.ops.batch import Batch
from tfsvc.data.ops.bucketing import BatchBucket, BucketOf, SizeOf
from tfsvc.data.ops.group_by_window import GroupByWindow
from tfsvc.data.ops.padded_batch import PaddedBatch
from tfsvc.data.ops.rebatch import Rebatch
from tfsvc.data.ops.unbatch import Unbatch
from tfsvc.data.ops.window import Window
from tfsvc.data.parallelism import check_calls
from tfsvc.errors import UnimplementedError

if TYPE_CHECKING:
    from tfsvc.data.dataset import Dataset


class Batching(Chain):
    """What can be done with the elements of any dataset together."""

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Consecutive elements stacked along a new first dimension.

        Args:
          batch_size: elements in a batch. The spec's first dimension is this number with
            ``drop_remainder``, and ``None`` without.
          drop_remainder: whether a last batch of fewer elements is left out.
          num_parallel_calls: a hint; batches are made one after the other.
          deterministic: a hint; their order is always fixed.
          name: a label.

        Raises:
          InvalidArgumentError: if ``batch_size`` or ``num_parallel_calls`` is not positive; on iteration, if shapes
            or dtypes differ.
        """
        check_calls(num_parallel_calls)
        return self._then(Batch(self.operator, whole("batch_size", batch_size), bool(drop_remainder)))

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Consecutive elements, padded to one shape and stacked along a new first dimension.

        Args:
          batch_size: elements in a batch.
          padded_shapes: the nest of shapes of an element, without the batch's dimension; the input's shapes
            when ``None``. A dimension that is ``None`` or -1 is padded to the largest of its batch.
          padding_values: a nest of scalars, or one for all components; zeros and empty strings when ``None``.
          drop_remainder: whether a last batch of fewer elements is left out.
          name: a label.

        Raises:
          InvalidArgumentError: if ``batch_size`` is not positive.
          ValueError, TypeError: when its spec is asked for, if a shape or value does not fit its component.
          DataLossError: on iteration, if a component is larger than its padded shape.
        """
        return self._then(
            PaddedBatch(
                self.operator, whole("batch_size", batch_size), padded_shapes, padding_values, bool(drop_remainder)
            )
        )

    def ragged_batch(
        self, batch_size: int, drop_remainder: bool = False, row_splits_dtype: Any = "int64", name: str | None = None
    ) -> Dataset:
        """Not available, since elements are NumPy arrays and NumPy has no ragged ones.

        Args:
          batch_size: as in TensorFlow.
          drop_remainder: as there.
          row_splits_dtype: as there.
          name: as there.

        Raises:
          UnimplementedError: always; it names the ways out.
        """
        raise UnimplementedError(
            message="ragged_batch needs ragged tensors, which NumPy does not have. Use padded_batch or "
            "bucket_by_sequence_length, or batch `values` and `row_splits` of your own with window and map."
        )

    def sparse_batch(self, batch_size: int, row_shape: Any, name: str | None = None) -> Dataset:
        """Not available, since elements are NumPy arrays and NumPy has no sparse ones.

        Args:
          batch_size: as in TensorFlow.
          row_shape: as there.
          name: as there.

        Raises:
          UnimplementedError: always; it names the ways out.
        """
        raise UnimplementedError(
            message="sparse_batch needs sparse tensors, which NumPy does not have. Use padded_batch, or batch "
            "`indices` and `values` of your own with window and map."
        )

    def rebatch(
        self, batch_size: int | Sequence[int], drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """The rows of the batches in batches of another size.

        Args:
          batch_size: rows of each batch, or a list of sizes that take turns.
          drop_remainder: whether a last batch of fewer rows is left out.
          name: a label.

        Raises:
          InvalidArgumentError: if a size is not positive; on iteration, if components differ in their number of rows.
          ValueError: when its spec is asked for, if a component is a scalar, or if the size of the batches depends on
            known numbers of rows that differ.
        """
        sizes = tuple(whole("batch_size", size) for size in np.atleast_1d(batch_size))
        return self._then(Rebatch(self.operator, sizes, bool(drop_remainder)))

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of each element, all its components cut along their first dimension.

        Raises:
          ValueError: on iteration or when its spec is asked for, if a component is a scalar.
          InvalidArgumentError: on iteration, if components differ in their number of rows.
        """
        return self._then(Unbatch(self.operator))

    def window(
        self,
        size: int,
        shift: int | None = None,
        stride: int = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Neighbouring elements as datasets: each component of an element is a dataset of values.

        Args:
          size: elements in a window; the last windows may have fewer.
          shift: elements between the starts of two windows; ``size`` when ``None``.
          stride: elements between two elements of a window, plus one.
          drop_remainder: whether windows of fewer elements are left out.
          name: a label.

        Raises:
          InvalidArgumentError: if ``size``, ``shift`` or ``stride`` is not positive.
        """
        shift = size if shift is None else shift
        return self._then(
            Window(
                self.operator,
                whole("size", size),
                whole("shift", shift),
                whole("stride", stride),
                bool(drop_remainder),
                self._then,
            )
        )

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: int | None = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of the datasets that ``reduce_func`` makes of elements of one key, ``window_size`` at a time.

        Args:
          key_func: from an element to an integer scalar.
          reduce_func: from an int64 key and a dataset to a dataset.
          window_size: elements that are reduced together; fewer at the end.
          window_size_func: the same as a function of the key.
          name: a label.

        Raises:
          ValueError: unless just one of ``window_size`` and ``window_size_func`` is given.
          InvalidArgumentError: on iteration, if a size is not positive.
        """
        check_function("key_func", key_func)
        check_function("reduce_func", reduce_func)
        size = window_size_func if window_size is None else whole("window_size", window_size)
        if size is None or (window_size is not None and window_size_func is not None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        return self._then(GroupByWindow(self.operator, key_func, reduce_func, size, self._then))

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Padded batches of elements of similar length.

        Args:
          element_length_func: from an element to its length.
          bucket_boundaries: bucket ``i`` holds lengths below boundary ``i`` and not below the one before.
          bucket_batch_sizes: elements in a batch of each bucket, one number more than boundaries.
          padded_shapes: as for :meth:`padded_batch`.
          padding_values: as for :meth:`padded_batch`.
          pad_to_bucket_boundary: whether unknown dimensions are padded to the boundary minus one.
          no_padding: whether elements of a bucket are batched as they are.
          drop_remainder: whether batches of fewer elements are left out.
          name: a label.

        Raises:
          ValueError: if the number of batch sizes does not fit.
          InvalidArgumentError: on iteration, if an element is too long for ``pad_to_bucket_boundary``.
        """
        sizes, boundaries = tuple(map(int, bucket_batch_sizes)), tuple(map(int, bucket_boundaries))
        if len(sizes) != len(boundaries) + 1:
            raise ValueError(
                "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                f"`len(bucket_batch_sizes)={len(sizes)}` and `len(bucket_boundaries)={len(boundaries)}`."
            )
        batch = BatchBucket(
            sizes, boundaries, padded_shapes, padding_values, pad_to_bucket_boundary, no_padding, drop_remainder
        )
        # Elements beyond the last boundary cannot be padded to one.
        keys = tuple(range(len(boundaries) if pad_to_bucket_boundary else len(sizes)))
        bucket = BucketOf(element_length_func, boundaries)
        return self._then(GroupByWindow(self.operator, bucket, batch, SizeOf(sizes), self._then, keys))
