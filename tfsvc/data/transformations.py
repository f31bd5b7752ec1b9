"""The methods that make one dataset out of another; each adds one operator.

Every method takes a ``name`` for compatibility with ``tf.data``, and makes no use of it. Values of elements
are as in :mod:`tfsvc.data.elements`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfsvc.data.arguments import check_function, whole
from tfsvc.data.batching import Batching
from tfsvc.data.elements import as_element
from tfsvc.data.functions import InProcesses, Vectorized
from tfsvc.data.ops.cache import Cache
from tfsvc.data.ops.cache_file import CacheFile
from tfsvc.data.ops.concatenate import Concatenate
from tfsvc.data.ops.enumerate import Enumerate
from tfsvc.data.ops.filter import Filter
from tfsvc.data.ops.flat_map import FlatMap
from tfsvc.data.ops.ignore_errors import IgnoreErrors
from tfsvc.data.ops.interleave import Interleave
from tfsvc.data.ops.map import Map
from tfsvc.data.ops.parallel_interleave import ParallelInterleave
from tfsvc.data.ops.parallel_map import ParallelMap
from tfsvc.data.ops.prefetch import Prefetch
from tfsvc.data.ops.process_map import ProcessMap
from tfsvc.data.ops.repeat import Repeat
from tfsvc.data.ops.scan import Scan
from tfsvc.data.ops.shard import Shard
from tfsvc.data.ops.shuffle import Shuffle
from tfsvc.data.ops.skip import Skip
from tfsvc.data.ops.take import Take
from tfsvc.data.ops.take_while import TakeWhile
from tfsvc.data.ops.unique import Unique
from tfsvc.data.ops.with_options import WithOptions, options_of
from tfsvc.data.options import Options
from tfsvc.data.ownership import settle
from tfsvc.data.parallelism import AUTOTUNE, check_calls
from tfsvc.data.sources import lasting_seeds
from tfsvc.random import operator_seeds

if TYPE_CHECKING:
    from tfsvc.data.dataset import Dataset

DEFAULT_CYCLE_LENGTH = 16
"""Datasets that ``interleave`` keeps open when not told; a constant, so that no order depends on a machine's cores."""


class Transformations(Batching):
    """What can be done with any dataset."""

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
          map_func: the function; it runs where the dataset runs, so it is shipped as a pickle. One that is marked
            with ``tf.data.experimental.vectorized`` takes many elements at once, with ``seeded`` it is handed random
            numbers, with ``in_processes`` it runs in processes.
          num_parallel_calls: how many calls run at a time on threads, ``AUTOTUNE`` for one a core; when ``None``,
            one after the other. A vectorized function runs on one thread.
          deterministic: whether results keep the order of the input; ``None`` leaves it to :meth:`with_options`, then
            to ``True``. In the service they always keep it, since an order that may change cannot be resumed.
          synchronous: accepted for compatibility.
          use_unbounded_threadpool: accepted for compatibility.
          name: a label.

        Raises:
          InvalidArgumentError: if ``num_parallel_calls`` is not positive.
        """
        check_function("map_func", map_func)
        if isinstance(map_func, InProcesses):
            calls = AUTOTUNE if num_parallel_calls is None else whole("num_parallel_calls", num_parallel_calls)
            return self._then(ProcessMap(self.operator, map_func, calls, deterministic))
        if num_parallel_calls is None or isinstance(map_func, Vectorized):
            return self._then(Map(self.operator, map_func))
        return self._then(
            ParallelMap(self.operator, map_func, whole("num_parallel_calls", num_parallel_calls), deterministic)
        )

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which ``predicate`` gives a true ``bool`` scalar.

        Raises:
          ValueError: if the predicate gives anything but a ``bool`` scalar: now, where it can be tried with an
            example, else on iteration.
        """
        check_function("predicate", predicate)
        return self._then(Filter(self.operator, predicate))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the datasets that ``map_func`` makes, one dataset after the other.

        Under dynamic sharding the input is split and the inner datasets run whole. ``map_func`` may be a generator
        function too, so that several workers run a generator for a part of the data each.

        Raises:
          TypeError: if ``map_func`` gives anything but a dataset: now, where it can be tried with an example, else on
            iteration.
        """
        check_function("map_func", map_func)
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
          num_parallel_calls: how many datasets are read at a time on threads, ``AUTOTUNE`` for one a core; so many
            of the next ones are opened before their turn. One at a time in turns when ``None``.
          deterministic: whether those that are read on threads keep to their turns; ``None`` leaves it to
            :meth:`with_options`, then to ``True``. In the service they always do.
          name: a label.

        Raises:
          InvalidArgumentError: if a number is not positive, or ``num_parallel_calls`` more than ``cycle_length``.
        """
        check_function("map_func", map_func)
        open_cycle = cycle_length is None or cycle_length == AUTOTUNE
        check_calls(num_parallel_calls, None if open_cycle else cycle_length)
        cycle = DEFAULT_CYCLE_LENGTH if open_cycle else whole("cycle_length", cycle_length)
        block = 1 if block_length is None else whole("block_length", block_length)
        if num_parallel_calls is None:
            return self._then(Interleave(self.operator, map_func, cycle, block))
        calls = whole("num_parallel_calls", num_parallel_calls)
        return self._then(ParallelInterleave(self.operator, map_func, cycle, block, calls, deterministic))

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
          seed: the order is TensorFlow's for it, a pure function of it, of ``tf.random.set_seed`` and of the pass.
            With neither seed one is drawn for each iterator, or one for good where ``reshuffle_each_iteration`` is
            false.
          reshuffle_each_iteration: whether each epoch and each repetition has an order of its own. Passes are
            counted by epochs of one dataset object and repetitions. TensorFlow counts the iterators that it has made
            of the shuffle, so its order is another one in a second epoch over ``repeat``, and where one shuffle is
            part of several datasets.
          name: a label.

        Raises:
          InvalidArgumentError: if ``buffer_size`` is not positive.
        """
        reshuffle = reshuffle_each_iteration is not False
        seeds = operator_seeds(seed) if reshuffle else lasting_seeds(seed)
        return self._then(Shuffle(self.operator, whole("buffer_size", buffer_size), seeds, reshuffle))

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """The elements ``count`` times over; without end where it is ``None`` or negative."""
        return self._then(Repeat(self.operator, -1 if count is None else whole("count", count)))

    def take(self, count: int, name: str | None = None) -> Dataset:
        """The first ``count`` elements, or all where there are fewer or ``count`` is -1."""
        return self._then(Take(self.operator, whole("count", count)))

    def skip(self, count: int, name: str | None = None) -> Dataset:
        """The elements behind the first ``count``; none where ``count`` is -1."""
        return self._then(Skip(self.operator, whole("count", count)))

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Dataset:
        """The elements number ``index``, ``index + num_shards``, and so on.

        Args:
          num_shards: how many shards there are; ``tf.data.experimental.SHARD_HINT`` leaves that and the index to
            ``ShardingPolicy.HINT`` of the data service.
          index: which of them.
          name: a label.

        Raises:
          InvalidArgumentError: unless ``0 <= index < num_shards``.
          FailedPreconditionError: on iteration, if ``SHARD_HINT`` was never filled in.
        """
        return self._then(Shard(self.operator, whole("num_shards", num_shards), whole("index", index)))

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this dataset, then those of ``dataset``.

        Raises:
          TypeError: if the two differ in structure or dtype; when its spec is asked for, if functions must run to
            tell.
        """
        return self._then(Concatenate(self.operator, dataset.operator))

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Pairs of an int64 number, counted from ``start``, and the element."""
        return self._then(Enumerate(self.operator, whole("start", start)))

    def prefetch(self, buffer_size: int | None, name: str | None = None) -> Dataset:
        """The same elements, up to ``buffer_size`` of them made ahead on a thread.

        The thread begins when three elements have taken more than 50 microseconds, which is what it costs to hand
        one over. In the service, where whole pipelines run ahead of their readers, nothing is added to that.

        Args:
          buffer_size: how many; ``None`` or ``AUTOTUNE`` begins with 2 and doubles them, up to 64, when the reader
            has to wait; 0 makes none ahead.
          name: a label.

        Raises:
          InvalidArgumentError: if ``buffer_size`` is below -1.
        """
        return self._then(Prefetch(self.operator, -1 if buffer_size is None else whole("buffer_size", buffer_size)))

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The outputs of a function that hands a state on from element to element.

        Args:
          initial_state: the state for the first element, a nest of tensors.
          scan_func: from a state and an element to a pair of the next state and the output.
          name: a label.

        Raises:
          TypeError: if there is no pair, or the state changes its structure or a dtype: now, where the function can be
            tried with an example, else on iteration.
        """
        check_function("scan_func", scan_func)
        return self._then(Scan(self.operator, settle([as_element(initial_state)]), scan_func))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first for which ``predicate`` gives a false ``bool`` scalar.

        Raises:
          ValueError: if the predicate gives anything but a ``bool`` scalar: now, where it can be tried with an
            example, else on iteration.
        """
        check_function("predicate", predicate)
        return self._then(TakeWhile(self.operator, predicate))

    def unique(self, name: str | None = None) -> Dataset:
        """Each element once: those that did not come before.

        Raises:
          TypeError: on iteration or when its spec is asked for, unless elements are int32, int64 or strings.
          InvalidArgumentError: likewise, if they have several components.
        """
        return self._then(Unique(self.operator))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """The elements that can be made; failures are passed over, or logged with ``log_warning``."""
        return self._then(IgnoreErrors(self.operator, bool(log_warning)))

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset:
        """The same elements; a later pass reads what the first whole pass has kept.

        Args:
          filename: a file to keep them in, from one process to the next; in memory where it is empty. A pass that is
            given up leaves no file, and passes at the same time do not disturb each other.
          name: a label.

        Raises:
          NotFoundError: on iteration, if the file's folder does not exist.
          InvalidArgumentError: on iteration, if the file holds the elements of another dataset, as far as their
            dtypes tell.
          DataLossError: on iteration, if the file is damaged.

        Example::

            numbers = tf.data.Dataset.range(3).shuffle(3).cache("kept.cache")
            assert list(numbers) == list(numbers)
        """
        path = os.fsdecode(filename)
        return self._then(CacheFile(self.operator, path) if path else Cache(self.operator))

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The same elements, made with these options; they go before options set earlier.

        Raises:
          TypeError: if ``options`` are none.
        """
        return self._then(WithOptions(self.operator, Options().merge(options)))

    def options(self) -> Options:
        """All options that were set for this dataset and its inputs, as a copy."""
        return options_of(self.operator)
