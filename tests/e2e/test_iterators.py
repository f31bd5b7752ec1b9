"""Iterators: shared, dropped, nested, combined, and used when all is over."""

from __future__ import annotations

import gc
import os
import threading
import time
from typing import Any

import tfsvc as tf
from tests.e2e.conftest import Service

Dataset = tf.data.Dataset


def _numbers(dataset: Any) -> list[int]:
    return sorted(int(value) for value in dataset)


def test_threads_may_share_an_iterator(two_workers: Service) -> None:
    iterator = iter(two_workers.read(Dataset.range(2000)))
    got: list[int] = []
    threads = [threading.Thread(target=lambda: got.extend(int(value) for value in iterator)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(got) == list(range(2000))


def test_a_forked_child_may_use_a_local_iterator_that_a_thread_was_in() -> None:
    inside, leave = threading.Event(), threading.Event()

    def wait(value: Any) -> Any:
        inside.set()
        leave.wait(20)
        return value

    iterator = iter(Dataset.range(5).map(wait))
    thread = threading.Thread(target=lambda: next(iterator))
    thread.start()
    inside.wait(20)
    child = os.fork()
    if child == 0:
        leave.set()
        # The element that the thread was at has been given to nobody here.
        os._exit(0 if next(iterator) == 0 else 1)
    leave.set()
    assert os.waitpid(child, 0)[1] == 0
    thread.join()


def test_the_end_stays_the_end(two_workers: Service) -> None:
    iterator = iter(two_workers.read(Dataset.range(3)))
    assert len(list(iterator)) == 3
    assert [next(iterator, None) for _ in range(3)] == [None] * 3


def test_each_iterator_of_a_dataset_is_a_pass_of_its_own(two_workers: Service) -> None:
    dataset = two_workers.read(Dataset.range(10))
    first = iter(dataset)
    next(first)
    assert _numbers(dataset) == list(range(10))
    assert len(list(first)) == 9
    assert sum(len(_numbers(dataset)) for _ in zip(range(2), dataset, strict=False)) == 20


def test_distributed_datasets_combine_like_any_other(two_workers: Service) -> None:
    def read(_: Any = None) -> Any:
        return two_workers.read(Dataset.range(5))

    assert _numbers(read().repeat(2)) == sorted([*range(5)] * 2)
    assert len(list(Dataset.zip(read(), read()))) == 5
    assert _numbers(Dataset.range(2).flat_map(read)) == sorted([*range(5)] * 2)
    assert _numbers(Dataset.range(2).interleave(read, cycle_length=2)) == sorted([*range(5)] * 2)
    assert _numbers(two_workers.read(read().map(lambda value: value + 1), "parallel_epochs")) == sorted(
        [*range(1, 6)] * 2
    )


def test_dropped_iterators_leave_nothing_behind(two_workers: Service) -> None:
    dataset = two_workers.read(Dataset.range(100_000).batch(100))

    def drop(count: int) -> tuple[int, int]:
        for _ in range(count):
            next(iter(dataset))
        gc.collect()
        give_up = time.monotonic() + 5
        while sum(worker.num_tasks() for worker in two_workers.workers) and time.monotonic() < give_up:
            time.sleep(0.05)
        return threading.active_count(), len(os.listdir("/proc/self/fd"))

    drop(10)
    threads, files = drop(10)
    more_threads, more_files = drop(30)
    assert more_threads <= threads + 5
    assert more_files <= files + 5
    assert sum(worker.num_tasks() for worker in two_workers.workers) == 0
