"""map on several elements at once: on threads, and vectorized."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, plain, start
from tfsvc.columns import Columns
from tfsvc.data import AUTOTUNE, Dataset, Options
from tfsvc.data.experimental import vectorized
from tfsvc.errors import InvalidArgumentError
from tfsvc.protocol.splits import Lease, Span, SplitFeed, SplitPosition, Starved
from tfsvc.specs import TensorSpec


def fragile(x: Any) -> Any:
    if x == 2:
        raise ArithmeticError
    return x + 1


def test_calls_run_at_the_same_time_and_keep_their_order() -> None:
    together = threading.Barrier(3, timeout=20)

    def meet(x: Any) -> Any:
        together.wait()
        return x

    assert elements(Dataset.range(6).map(meet, num_parallel_calls=3)) == [0, 1, 2, 3, 4, 5]


def test_the_first_ready_comes_first_where_that_is_wished() -> None:
    seen = threading.Event()

    def wait_for_the_other(x: Any) -> Any:
        if x == 0:
            assert seen.wait(20)
        return x

    def read(dataset: Dataset) -> list[int]:
        seen.clear()
        found = []
        for x in dataset:
            found.append(int(x))
            seen.set()
        return found

    assert read(Dataset.range(2).map(wait_for_the_other, 2, deterministic=False)) == [1, 0]
    free = Options(deterministic=False)
    assert read(Dataset.range(2).map(wait_for_the_other, 2).prefetch(1).with_options(free)) == [1, 0]


def test_arrays_may_overtake_each_other() -> None:
    rows = Dataset.from_tensor_slices(np.arange(40).reshape(20, 2))
    found = elements(rows.map(lambda row: row + 1, 4, deterministic=False))
    assert sorted(found) == elements(rows.map(lambda row: row + 1))


def test_the_service_keeps_every_order() -> None:
    dataset = Dataset.range(40).map(lambda x: x, 4, deterministic=False)
    assert drain(start(dataset)) == list(range(40))


def test_a_failure_stands_in_its_place() -> None:
    assert drain(start(Dataset.range(4).map(fragile, 3))) == [1, 2, "ArithmeticError", 4]
    behind = Dataset.range(4).map(fragile).map(lambda x: x, AUTOTUNE)
    assert drain(start(behind)) == [1, 2, "ArithmeticError", 4]


def test_calls_on_their_way_are_saved() -> None:
    dataset = Dataset.range(6).map(fragile).map(lambda x: x * 10, 3)
    iterator = start(dataset)
    assert plain(iterator.next()) == 10
    restored = start(dataset)
    restored.load(iterator.save())
    assert drain(restored) == [20, "UnknownError", 40, 50, 60]
    assert drain(iterator) == [20, "ArithmeticError", 40, 50, 60]


def test_what_is_ready_comes_before_more_splits_are_asked_for() -> None:
    feed = SplitFeed(0)
    feed.add(Lease(0, SplitPosition(0, 0), (Span(0, 2),)))
    iterator = start(Dataset.range(9).map(lambda x: x, 4), feed)
    assert [plain(iterator.next()) for _ in range(2)] == [0, 1]
    with pytest.raises(Starved):
        iterator.next()
    feed.add(Lease(0, SplitPosition(0, 2), (Span(5, 6),), ended=True))
    assert drain(iterator) == [5]


class Recording:
    """Doubles rows, and remembers how many it was given."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, n: Any, text: Any) -> Any:
        self.sizes.append(len(n))
        return {"double": 2 * n, "text": text}


def test_a_vectorized_function_takes_many_elements_at_once() -> None:
    function = Recording()
    source = Dataset.from_tensor_slices((np.arange(6), ["a"] * 6))
    dataset = source.map(vectorized(function))
    assert dataset.element_spec == {"double": TensorSpec((), "int64"), "text": TensorSpec((), "string")}
    function.sizes.clear()
    block = start(dataset).block(5)
    assert isinstance(block, Columns)
    assert block.count == 5
    assert function.sizes == [5]
    assert elements(dataset)[5] == {"double": 10, "text": b"a"}


def test_elements_of_a_failed_block_are_tried_one_by_one() -> None:
    def strict(x: Any) -> Any:
        if (x == 2).any():
            raise ArithmeticError
        return x

    dataset = Dataset.range(5).map(vectorized(strict))
    iterator = start(dataset)
    assert iterator.block(5) is None
    restored = start(dataset)
    restored.load(iterator.save())
    assert drain(iterator) == drain(restored) == [0, 1, "ArithmeticError", 3, 4]


def test_a_vectorized_function_must_give_a_row_for_each_element() -> None:
    with pytest.raises(InvalidArgumentError, match="must have 1 rows"):
        _ = Dataset.range(3).map(vectorized(lambda x: np.concatenate([x, x]))).element_spec
