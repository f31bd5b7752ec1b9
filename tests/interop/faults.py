"""Faults of TensorFlow 2.21, planted in ``tfsvc``: what they explain is what becomes the same with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from tfsvc import nest
from tfsvc.columns import Columns
from tfsvc.data.ops import batch, rebatch
from tfsvc.data.ops.skip import _SkipIterator
from tfsvc.data.stacking import join, stack_elements


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
    """``skip`` begins to count anew where it meets a failure."""

    def skip(iterator: Any) -> None:
        wanted = iterator._left
        try:
            as_it_is(iterator)
        except Exception:
            iterator._left = wanted
            raise

    as_it_is = _SkipIterator._skip
    with patch.object(_SkipIterator, "_skip", skip):
        yield
