"""What TensorFlow 2.21 does otherwise, planted in ``tfsvc``: it explains what becomes the same with it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from tests.pipelines.functions import OnArrays
from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data import operator as operators
from tfsvc.data.ops import batch, padded_batch, rebatch
from tfsvc.data.ops.batch import _BatchIterator
from tfsvc.data.ops.map import Map
from tfsvc.data.ops.padded_batch import PaddedBatch
from tfsvc.data.ops.shard import _ShardIterator
from tfsvc.data.ops.skip import _SkipIterator
from tfsvc.data.ops.window import _WindowIterator
from tfsvc.data.stacking import join, stack_elements
from tfsvc.specs import TensorSpec


@contextmanager
def unlike_rows_of_one_size(soonest: int = 0) -> Iterator[None]:
    """``rebatch``, and ``batch`` of a ``map`` with which it is fused, look at how many numbers a row has.

    ``rebatch`` takes all for rows of the shape of the first.

    Args:
      soonest: whose shape ``batch`` takes; it is the row that is done first, which is for threads to say.
    """

    def stack(rows: Sequence[Any]) -> Any:
        form = nest.flatten(rows[soonest % len(rows)])
        return stack_elements([nest.pack_sequence_as(row, list(map(_like, nest.flatten(row), form))) for row in rows])

    with patch.object(rebatch, "join", _join), patch.object(batch, "stack_elements", stack):
        yield


def _join(pieces: Sequence[Columns]) -> Columns:
    joined = join(pieces)
    leaves = [
        leaf
        if isinstance(leaf, np.ndarray)
        else np.stack([_like(row, leaf[0]) for row in leaf])
        if len(set(map(np.size, leaf))) == 1
        else leaf
        for leaf in joined.leaves
    ]
    return Columns(joined.structure, tuple(leaves), joined.count)


def _like(row: Any, first: Any) -> Any:
    alike = np.shape(row) != np.shape(first) and np.size(row) == np.size(first)
    return np.reshape(row, np.shape(first)) if alike else row


@contextmanager
def skip_that_counts_anew() -> Iterator[None]:
    """``skip`` begins to count anew where it meets a failure, and so does ``shard`` where it passes over others."""

    def skip(iterator: Any) -> None:
        wanted = iterator._left
        try:
            skips(iterator)
        except Exception:
            iterator._left = wanted
            raise

    def pass_over(iterator: Any, least: int) -> None:
        number = iterator._number
        try:
            passes(iterator, least)
        except Exception:
            iterator._number = number
            raise

    skips, passes = _SkipIterator._skip, _ShardIterator._pass_over
    with (
        patch.object(_SkipIterator, "_skip", skip),
        patch.object(_ShardIterator, "_pass_over", pass_over),
        patch.object(_ShardIterator, "block", lambda *_: None),
    ):
        yield


@contextmanager
def failures_left_out_with_a_window() -> Iterator[None]:
    """A failure has a place in a window, and where ``drop_remainder`` leaves that window out, nobody hears of it."""

    def next(iterator: Any) -> Any:
        failures: list[Exception] = []
        while True:
            try:
                element = as_it_is(iterator)
            except StopIteration:
                if failures and len(iterator._rows) + len(failures) >= iterator._window.span:
                    raise failures[0] from None
                raise
            except Exception as failure:
                if not iterator._window.drop_remainder:
                    raise
                failures.append(failure)
            else:
                if failures:
                    raise failures[0]
                return element

    as_it_is = _WindowIterator.next
    with patch.object(_WindowIterator, "next", next):
        yield


@contextmanager
def short_batch_that_fails_before_a_window() -> Iterator[None]:
    """The failure of a last batch that is short passes for the end of the data, where a window reads it."""

    def batched(iterator: Any) -> Any:
        rows: list[Any] = []

        def stack(stacked: Sequence[Any]) -> Any:
            rows.extend(stacked)
            return stack_elements(stacked)

        try:
            with patch.object(batch, "stack_elements", stack):
                return batches(iterator)
        except Exception as failure:
            _mark_short(failure, rows, iterator._size)
            raise

    def padded(operator: Any, rows: Sequence[Any]) -> Any:
        try:
            return pads(operator, rows)
        except Exception as failure:
            _mark_short(failure, rows, operator.size)
            raise

    def windowed(iterator: Any) -> Any:
        try:
            return windows(iterator)
        except Exception as failure:
            if not hasattr(failure, "short"):
                raise
            iterator._input_ended = True
            return windows(iterator)

    batches, pads, windows = _BatchIterator.next, PaddedBatch.stack, _WindowIterator.next
    with (
        patch.object(_BatchIterator, "next", batched),
        patch.object(PaddedBatch, "stack", padded),
        patch.object(_WindowIterator, "next", windowed),
    ):
        yield


def _mark_short(failure: Any, rows: Sequence[Any], size: int) -> None:
    if 0 < len(rows) < size:
        failure.short = True


@contextmanager
def unlike_rows_of_a_dropped_batch() -> Iterator[None]:
    """``batch`` of a ``map`` with which it is fused looks at the rows also where ``drop_remainder`` leaves them out."""

    def next(iterator: Any) -> Any:
        try:
            return as_it_is(iterator)
        except StopIteration:
            rows, iterator._rows = iterator._rows, []
            if rows:
                stack_elements(rows)
            raise

    as_it_is = _BatchIterator.next
    with patch.object(_BatchIterator, "next", next), patch.object(_BatchIterator, "block", lambda *_: None):
        yield


@contextmanager
def sizes_that_no_trace_shows() -> Iterator[None]:
    """A size that a function makes of values is unknown to tracing, whatever the examples say.

    That is no fault of TensorFlow's: it sees less than examples do. So no two examples agree on such a size.
    """
    more, probing = itertools.count(), []

    def fill(functions: Any, size: Any, value: Any) -> Any:
        return fills(functions, size + next(more) if probing else size, value)

    @contextmanager
    def probes(operator: Any) -> Iterator[None]:
        probing.append(operator)
        try:
            with probes_as_it_is(operator):
                yield
        finally:
            probing.pop()

    def examples(operator: Any) -> tuple[Any, ...]:
        return (*makes_examples(operator), *makes_examples(operator))

    fills, probes_as_it_is, makes_examples = OnArrays.fill, operators._probing, Map._make_examples
    with (
        patch.object(OnArrays, "fill", fill),
        patch.object(operators, "_probing", probes),
        patch.object(Map, "_make_examples", examples),
    ):
        yield


@contextmanager
def numbers_of_one_type() -> Iterator[None]:
    """Python's own numbers pad components of int32 and float32 alone."""

    def fill_value(value: Any, spec: TensorSpec) -> Any:
        types = {int: np.int32, float: np.float32}
        return as_it_is(types[type(value)](value) if type(value) in types else value, spec)

    as_it_is = padded_batch._fill_value
    with patch.object(padded_batch, "_fill_value", fill_value):
        yield
