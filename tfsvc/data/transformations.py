"""The methods that make one dataset out of another; each adds one operator.

Every method takes a ``name`` for compatibility with ``tf.data``, and makes no use of it. Values of elements
are as in :mod:`tfsvc.data.elements`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfsvc.data.operator import Operator
from tfsvc.data.ops.batch import Batch
from tfsvc.data.ops.concatenate import Concatenate
from tfsvc.data.ops.enumerate import Enumerate
from tfsvc.data.ops.filter import Filter
from tfsvc.data.ops.flat_map import FlatMap
from tfsvc.data.ops.interleave import Interleave
from tfsvc.data.ops.map import Map
from tfsvc.data.ops.prefetch import Prefetch
from tfsvc.data.ops.repeat import Repeat
from tfsvc.data.ops.shard import Shard
from tfsvc.data.ops.shuffle import Shuffle
from tfsvc.data.ops.skip import Skip
from tfsvc.data.ops.take import Take
from tfsvc.data.ops.unbatch import Unbatch

if TYPE_CHECKING:
    from tfsvc.data.dataset import Dataset

DEFAULT_CYCLE_LENGTH = 16
"""Datasets that ``interleave`` keeps open when not told; a constant, so that no order depends on a machine's cores."""


class Transformations(ABC):
    """What can be done with any dataset."""

    operator: Operator
    """The graph node that makes the elements."""

    @abstractmethod
    def _then(self, operator: Operator) -> Dataset:
        """The dataset of an operator that reads from this one's."""

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """``map_func`` of each element.

        A tuple element becomes several arguments, a dict or named tuple is one. The result is a number,
        string, array, or a tuple or dict of these; a list at the top is a tuple, one further down an array.
        An element whose call raises is reported and then left out.

        Args:
          map_func: the function; it runs where the dataset runs, so it is shipped as a pickle.
          num_parallel_calls: a hint; calls run one after the other within one iterator.
          deterministic: a hint; the order is always that of the input.
          synchronous: accepted for compatibility.
          use_unbounded_threadpool: accepted for compatibility.
          name: a label.
        """
        return self._then(Map(self.operator, map_func))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which ``predicate`` gives a true ``bool`` scalar.

        Raises:
          ValueError: on iteration, if the predicate gives anything but a ``bool`` scalar.
        """
        return self._then(Filter(self.operator, predicate))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the datasets that ``map_func`` makes, one dataset after the other.

        Under dynamic sharding the input is split and the inner datasets run whole.

        Raises:
          TypeError: on iteration, if ``map_func`` gives anything but a dataset.
        """
        return self._then(FlatMap(self.operator, map_func))

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of the datasets that ``map_func`` makes, several of them in turns.

        Args:
          map_func: from an element to a dataset.
          cycle_length: how many datasets are open at once; 16 when ``None`` or ``AUTOTUNE``.
          block_length: elements in a row from each; 1 when ``None``.
          num_parallel_calls: a hint; datasets are read one at a time.
          deterministic: a hint; the order is always fixed.
          name: a label.

        Raises:
          InvalidArgumentError: if a length is not positive.
        """
        cycle = DEFAULT_CYCLE_LENGTH if cycle_length in (None, -1) else int(cycle_length or 0)
        block = 1 if block_length is None else int(block_length)
        return self._then(Interleave(self.operator, map_func, cycle, block))

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
          num_parallel_calls: a hint.
          deterministic: a hint.
          name: a label.

        Raises:
          InvalidArgumentError: if ``batch_size`` is not positive; on iteration, if shapes or dtypes differ.
        """
        return self._then(Batch(self.operator, int(batch_size), bool(drop_remainder)))

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of each element, all its components cut along their first dimension.

        Raises:
          ValueError: on iteration or when its spec is asked for, if a component is a scalar.
          InvalidArgumentError: on iteration, if components differ in their number of rows.
        """
        return self._then(Unbatch(self.operator))

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool = True,
        name: str | None = None,
    ) -> Dataset:
        """Each element drawn at random from the next ``buffer_size`` ones.

        Args:
          buffer_size: elements held; ``UNKNOWN_CARDINALITY`` holds them all.
          seed: the order is a pure function of it and of the pass; ``None`` draws one for each iterator.
          reshuffle_each_iteration: whether each epoch and each repetition has an order of its own.
          name: a label.

        Raises:
          InvalidArgumentError: if ``buffer_size`` is not positive.
        """
        reshuffle = reshuffle_each_iteration is not False
        return self._then(Shuffle(self.operator, int(buffer_size), None if seed is None else int(seed), reshuffle))

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """The elements ``count`` times over; without end where it is ``None`` or negative."""
        return self._then(Repeat(self.operator, -1 if count is None else int(count)))

    def take(self, count: int, name: str | None = None) -> Dataset:
        """The first ``count`` elements, or all where there are fewer or ``count`` is -1."""
        return self._then(Take(self.operator, int(count)))

    def skip(self, count: int, name: str | None = None) -> Dataset:
        """The elements behind the first ``count``; none where ``count`` is -1."""
        return self._then(Skip(self.operator, int(count)))

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Dataset:
        """The elements number ``index``, ``index + num_shards``, and so on.

        Raises:
          InvalidArgumentError: unless ``0 <= index < num_shards``.
        """
        return self._then(Shard(self.operator, int(num_shards), int(index)))

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this dataset, then those of ``dataset``.

        Raises:
          TypeError: when its spec is asked for, if the two differ in structure or dtype.
        """
        return self._then(Concatenate(self.operator, dataset.operator))

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pairs of an int64 number, counted from ``start``, and the element."""
        return self._then(Enumerate(self.operator, int(start)))

    def prefetch(self, buffer_size: int | None, name: str | None = None) -> Dataset:
        """The same elements; ``buffer_size`` is a hint, and ``None`` or -1 leaves it open.

        Raises:
          InvalidArgumentError: if ``buffer_size`` is below -1.
        """
        return self._then(Prefetch(self.operator, -1 if buffer_size is None else int(buffer_size)))
