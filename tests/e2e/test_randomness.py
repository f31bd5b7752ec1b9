"""Random numbers that belong to elements are the same on any workers, with one of them killed, and in processes."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfsvc as tf
from tests.e2e.conftest import Service
from tests.e2e.fleet import Fleet, fleet

experimental = tf.data.experimental
COUNT = 400


def draw(value: Any, rng: np.random.Generator) -> Any:
    time.sleep(0.002)
    return value, rng.integers(1 << 40), rng.normal(size=2)


def inner(value: Any) -> Any:
    return tf.data.Dataset.range(int(value) % 3).map(lambda x: value * 10 + x).map(experimental.seeded(draw, 5))


def read(dataset: Any) -> list[str]:
    return sorted(repr([np.asarray(part).tolist() for part in element]) for element in dataset)


PIPELINES = {
    "threads": lambda: tf.data.Dataset.range(COUNT).shuffle(50).map(experimental.seeded(draw, 3), 2),
    "processes": lambda: (
        tf.data.Dataset.range(COUNT).shuffle(50).map(experimental.in_processes(experimental.seeded(draw, 3)), 2)
    ),
    "inner": lambda: tf.data.Dataset.range(COUNT).interleave(inner, 4, num_parallel_calls=2),
}


@pytest.fixture(scope="module")
def workers() -> Iterator[Fleet]:
    with fleet() as made:
        yield made


@pytest.mark.parametrize("make", PIPELINES.values(), ids=PIPELINES)
def test_three_workers_of_which_one_is_killed_draw_what_one_process_draws(workers: Fleet, make: Any) -> None:
    workers.wait()
    expected = read(make())
    distributed = make().apply(experimental.service.distribute("distributed_epoch", workers.target))
    found: list[Any] = []
    for element in distributed:
        found.append(element)
        if len(found) == 50:
            workers.restart(1, signal.SIGKILL)
    assert read(found) == expected


def test_each_epoch_draws_anew_and_without_a_seed_so_does_each_run(two_workers: Service) -> None:
    source = tf.data.Dataset.range(20)
    seeded = two_workers.read(source.map(experimental.seeded(draw, 3)))
    local = source.map(experimental.seeded(draw, 3))
    first, second = read(seeded), read(seeded)
    assert [first, second] == [read(local), read(local)]
    assert first != second
    unseeded = source.map(experimental.seeded(draw))
    assert read(two_workers.read(unseeded)) != read(two_workers.read(unseeded))
