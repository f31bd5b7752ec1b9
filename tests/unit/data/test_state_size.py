"""A saved state is as large as the elements that operators hold, and otherwise a few positions."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest

from tfsvc.data import Dataset
from tfsvc.data.operator import Context

BYTES = 4096
"""The size of an element."""

POSITIONS = 1500
"""Bytes for positions, seeds and the form of what is held."""

HELD: dict[str, tuple[Callable[[Dataset], Dataset], int]] = {
    "nothing": (lambda d: d, 0),
    "map": (lambda d: d.map(lambda x: x + 1), 0),
    "filter": (lambda d: d.filter(lambda x: x[0] % 2 == 0), 0),
    "take and skip": (lambda d: d.skip(2).take(30), 0),
    "repeat": (lambda d: d.take(3).repeat(), 0),
    "shard": (lambda d: d.shard(2, 1), 0),
    "enumerate": (lambda d: d.enumerate(), 0),
    "take_while": (lambda d: d.take_while(lambda x: x[0] < 1000), 0),
    "prefetch": (lambda d: d.prefetch(8), 0),
    "zip": (lambda d: Dataset.zip(d, d), 0),
    "concatenate": (lambda d: d.take(3).concatenate(d), 0),
    "ignore_errors": (lambda d: d.ignore_errors(), 0),
    "batch": (lambda d: d.batch(4), 4),
    "padded_batch": (lambda d: d.padded_batch(4), 4),
    "unbatch": (lambda d: d.batch(4).unbatch(), 4),
    "rebatch": (lambda d: d.batch(4).rebatch(3), 7),
    "window": (lambda d: d.window(3, 1).flat_map(lambda w: w), 6),
    "shuffle": (lambda d: d.shuffle(5), 5),
    "shuffle of all": (lambda d: d.shuffle(1000), 1000),
    "scan": (lambda d: d.scan(np.zeros(BYTES // 8), lambda s, x: (s + x, s)), 1),
    "flat_map": (lambda d: d.flat_map(lambda x: Dataset.from_tensors(x).repeat(3)), 1),
    "interleave": (lambda d: d.interleave(lambda x: Dataset.from_tensors(x).repeat(3), cycle_length=3), 3),
    "group_by_window": (lambda d: d.group_by_window(lambda x: 0, lambda key, group: group, window_size=4), 8),
    "parallel map": (lambda d: d.map(lambda x: x + 1, num_parallel_calls=3), 3),
    "choose": (lambda d: Dataset.choose_from_datasets([d, d], Dataset.range(2).repeat()), 0),
    "cache": (lambda d: d.take(6).cache().repeat(), 6),
}


def large(count: int) -> Dataset:
    return Dataset.range(count).map(lambda x: np.full(BYTES // 8, x, np.float64))


@pytest.mark.parametrize(("step", "held"), HELD.values(), ids=list(HELD))
def test_a_state_holds_no_more_elements_than_its_operators(step: Callable[[Dataset], Dataset], held: int) -> None:
    iterator = step(large(60)).operator.iterator(Context(seed=1))
    sizes = [len(pickle.dumps(iterator.save()))]
    with suppress(StopIteration):
        for _ in range(25):
            iterator.next()
            sizes.append(len(pickle.dumps(iterator.save())))
    assert len(sizes) > 5
    assert max(sizes) <= min(held, 60) * (BYTES + 200) + POSITIONS
