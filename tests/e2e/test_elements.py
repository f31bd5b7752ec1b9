"""What users' functions give and raise, through the service and back."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfsvc as tf
from tests.e2e.conftest import Service

Dataset = tf.data.Dataset


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def _raise_at_three(error: BaseException) -> Callable[[Any], Any]:
    def fail(value: Any) -> Any:
        if value == 3:
            raise error
        return value

    return fail


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ValueError("no"), tf.errors.InvalidArgumentError),
        (KeyError("no"), tf.errors.UnknownError),
        (FileNotFoundError(2, "no"), tf.errors.NotFoundError),
        (StopIteration("no"), tf.errors.InvalidArgumentError),
        (SystemExit(1), tf.errors.UnknownError),
        (GeneratorExit(), tf.errors.UnknownError),
        (ValueError("not UTF-8: \ud800"), tf.errors.InvalidArgumentError),
        (UnspeakableError(), tf.errors.UnknownError),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
@pytest.mark.parametrize(
    ("mark", "where"),
    [
        (lambda function: function, "On the worker:"),
        (tf.data.experimental.in_processes, "In a process of its own:"),
    ],
)
def test_an_error_takes_the_place_of_one_element(
    two_workers: Service, raised: BaseException, expected: type[Exception], mark: Callable[[Any], Any], where: str
) -> None:
    iterator = iter(two_workers.read(Dataset.range(6).map(mark(_raise_at_three(raised)))))
    got: list[int] = []
    errors: list[Exception] = []
    while len(got) + len(errors) < 6:
        try:
            got.append(int(next(iterator)))
        except tf.errors.OpError as error:
            errors.append(error)
    assert next(iterator, None) is None
    assert sorted(got) == [0, 1, 2, 4, 5]
    assert [type(error) for error in errors] == [expected]
    assert type(raised).__name__ in str(errors[0])
    assert where in str(errors[0])
    assert "in fail" in str(errors[0])
    assert f"In map() at {__file__}:" in str(errors[0])
    assert "was called with np.int64(3), for element" in str(errors[0])
    assert errors[0].__notes__[0].startswith(f"In distribute() at {__file__.replace('test_elements', 'conftest')}:")


def test_ctrl_c_raised_by_a_function_is_an_error_like_any_other(two_workers: Service) -> None:
    dataset = two_workers.read(Dataset.range(6).map(_raise_at_three(KeyboardInterrupt())), "parallel_epochs")
    with pytest.raises(tf.errors.UnknownError, match="KeyboardInterrupt"):
        list(dataset)


@pytest.mark.parametrize(
    "element",
    [
        (),
        np.zeros((0, 5)),
        np.array(1.5, np.float16),
        b"a\0b\0\0",
        np.array([b"\0", b""], object),
        {"a": (np.int8(1), b"x"), "b": np.zeros((2, 0, 3), np.uint8)},
        np.arange(12).reshape(3, 4).T[::2],
        np.zeros(20 << 20, np.uint8),
    ],
    ids=["nothing", "no-rows", "scalar", "text", "texts", "nest", "strided", "large"],
)
def test_elements_come_as_they_were_made(two_workers: Service, element: Any) -> None:
    (*got,) = two_workers.read(Dataset.range(3).map(lambda _: element))
    assert len(got) == 3
    for one in got:
        tf.nest.map_structure(np.testing.assert_array_equal, one, element)


def test_elements_may_differ_in_shape_and_structure(two_workers: Service) -> None:
    def make(value: Any) -> Any:
        return (value, np.zeros(int(value))) if value % 2 else {"a": value}

    got = list(two_workers.read(Dataset.range(6).map(make)))
    assert sorted(len(one) if isinstance(one, tuple) else 1 for one in got) == [1, 1, 1, 2, 2, 2]
    assert sorted(one[1].size for one in got if isinstance(one, tuple)) == [1, 3, 5]


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (threading.Lock, "threading.Lock"),
        (lambda: sqlite3.connect(":memory:"), "sqlite3.Connection"),
        (lambda: (value for value in (1, 2)), "generator"),
        (lambda: iter(Dataset.range(3)), "DatasetIterator"),
    ],
    ids=["lock", "database", "generator", "iterator"],
)
def test_what_belongs_to_this_process_is_refused_by_its_path(
    two_workers: Service, make: Callable[[], Any], path: str
) -> None:
    held = make()
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"closure variable 'held' -> [\w.]*{path}"):
        two_workers.read(Dataset.range(3).map(lambda value: (held, value)[1]))
    getattr(held, "close", lambda: None)()


def test_dynamic_sharding_of_a_zip_leaves_no_pair_out() -> None:
    service = tf.data.experimental.service
    with service.DispatchServer() as dispatcher:
        config = service.WorkerConfig(dispatcher_address=dispatcher.target)
        workers = [service.WorkerServer(config) for _ in range(3)]
        pairs = tf.data.Dataset.zip(tf.data.Dataset.range(600), tf.data.Dataset.range(1000, 1600))
        got = list(pairs.apply(service.distribute(service.ShardingPolicy.DYNAMIC, dispatcher.target)))
        del workers
    assert sorted(int(one) for one, _ in got) == list(range(600))
    assert sorted(int(other) for _, other in got) == list(range(1000, 1600))
