"""What works ahead of its reader: prefetch, and interleave on threads."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, plain, start
from tfsvc.data import AUTOTUNE, Dataset, Options, TextLineDataset
from tfsvc.data.operator import Context, OperatorIterator
from tfsvc.data.ops import prefetch
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any element is slow enough for a thread."""
    monkeypatch.setattr(prefetch, "SLOW_MAX", 0)


def ahead(dataset: Dataset) -> OperatorIterator:
    return dataset.operator.iterator(Context(seed=0, ahead=True, reorder=True))


def until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def threads(name: str) -> int:
    return sum(thread.name.startswith(name) for thread in threading.enumerate())


class Counting:
    """Passes elements on, and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, x: Any) -> Any:
        self.count += 1
        return x


def fragile(x: Any) -> Any:
    if x == 2:
        raise ArithmeticError
    return x


def test_elements_are_made_before_they_are_asked_for_and_no_more_than_that() -> None:
    counting = Counting()
    iterator = iter(Dataset.range(100).map(counting).prefetch(3))
    assert not counting.count
    next(iterator)
    assert until(lambda: counting.count == 4)
    time.sleep(0.05)
    assert counting.count == 4
    next(iterator)
    assert until(lambda: counting.count == 5)


def test_a_thread_is_for_slow_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefetch, "SLOW_MAX", 3)
    gc.collect()
    assert until(lambda: threads("tfsvc-prefetch") == 0)
    quick = iter(Dataset.range(1000).prefetch(2))
    assert next(quick) == 0
    slow = iter(Dataset.range(1000).map(lambda x: (time.sleep(0.001), x)[1]).prefetch(2))
    assert [next(slow) for _ in range(3)] == [0, 1, 2]
    assert threads("tfsvc-prefetch") == 0
    assert [next(slow) for _ in range(3)] == [3, 4, 5]
    assert threads("tfsvc-prefetch") == 1


def test_the_maker_and_the_reader_work_at_the_same_time() -> None:
    meet = threading.Barrier(2, timeout=20)

    def wait(x: Any) -> Any:
        if x:
            meet.wait()
        return x

    iterator = iter(Dataset.range(2).map(wait).prefetch(1))
    next(iterator)
    meet.wait()
    assert next(iterator) == 1


def test_an_open_buffer_grows_when_it_has_been_full_and_runs_dry() -> None:
    counting = Counting()

    def slow(x: Any) -> Any:
        time.sleep(0.005)
        return counting(x)

    iterator = iter(Dataset.range(500).map(slow).prefetch(AUTOTUNE))
    next(iterator)
    taken, size = 1, 2
    for _ in range(3):
        made = taken + size
        assert until(lambda made=made: counting.count == made)
        for _ in range(size + 1):
            next(iterator)
        taken, size = taken + size + 1, 2 * size


def test_failures_stand_in_their_place_and_the_end_stays_the_end() -> None:
    iterator = ahead(Dataset.range(4).map(fragile).prefetch(2))
    assert drain(iterator) == [0, 1, "ArithmeticError", 3]
    with pytest.raises(StopIteration):
        iterator.next()


@pytest.mark.parametrize("taken", range(7))
def test_what_was_made_ahead_is_saved(taken: int) -> None:
    dataset = Dataset.range(6).map(fragile).prefetch(3)
    iterator = ahead(dataset)
    found = [next_or_name(iterator) for _ in range(taken)]
    time.sleep(0.01)
    state = iterator.save()
    restored = ahead(dataset)
    restored.load(state)
    rest = drain(iterator)
    assert [str(x).replace("UnknownError", "ArithmeticError") for x in drain(restored)] == list(map(str, rest))
    assert found + rest == [0, 1, "ArithmeticError", 3, 4, 5][: len(found + rest)]


def next_or_name(iterator: OperatorIterator) -> Any:
    try:
        return plain(iterator.next())
    except Exception as error:
        return type(error).__name__


def test_a_restored_iterator_may_be_saved_again() -> None:
    dataset = Dataset.range(50).shuffle(4, seed=1).prefetch(5)
    expected = drain(ahead(dataset))
    found, state = [], None
    while True:
        iterator = ahead(dataset)
        if state is not None:
            iterator.load(state)
        try:
            found.append(plain(iterator.next()))
        except StopIteration:
            break
        state = iterator.save()
    assert found == expected


def test_in_the_service_nothing_is_buffered_twice() -> None:
    counting = Counting()
    iterator = start(Dataset.range(9).map(counting).prefetch(4))
    iterator.next()
    time.sleep(0.05)
    assert counting.count == 1


@pytest.mark.parametrize("name", ["tfsvc-prefetch", "tfsvc-interleave", "tfsvc-map"])
def test_a_dropped_iterator_leaves_no_thread(name: str) -> None:
    step = {
        "tfsvc-prefetch": lambda d: d.prefetch(2),
        "tfsvc-interleave": lambda d: d.interleave(lambda x: Dataset.range(100), 2, num_parallel_calls=2),
        "tfsvc-map": lambda d: d.map(lambda x: x, 2),
    }[name]
    gc.collect()
    before = threads(name)
    for _ in range(20):
        iterator = iter(step(Dataset.range(1000)))
        next(iterator)
    assert threads(name) > before
    del iterator
    gc.collect()
    assert until(lambda: threads(name) <= before)


def test_a_thread_ends_with_the_data() -> None:
    before = threads("tfsvc-prefetch")
    iterator = iter(Dataset.range(5).prefetch(2))
    assert len(list(iterator)) == 5
    assert until(lambda: threads("tfsvc-prefetch") <= before)


def test_results_are_not_kept_by_threads() -> None:
    import weakref

    class Tracked(np.ndarray):
        pass

    made: list[Any] = []

    def track(x: Any) -> Any:
        array = np.zeros(3).view(Tracked)
        made.append(weakref.ref(array))
        return array

    for dataset in (Dataset.range(3).map(track).prefetch(2), Dataset.range(3).map(track, 2)):
        made.clear()
        assert len([None for _ in dataset]) == 3
        gc.collect()
        assert until(lambda: [ref for ref in made if ref() is not None] == [])


def test_a_forked_process_is_told_to_begin_anew() -> None:
    for dataset in (
        Dataset.range(9).prefetch(2),
        Dataset.range(9).map(lambda x: x, 2),
        Dataset.range(9).interleave(lambda x: Dataset.range(2), 2, num_parallel_calls=2),
    ):
        iterator = iter(dataset)
        next(iterator)
        child = os.fork()
        if not child:
            code = 1
            try:
                next(iterator)
            except FailedPreconditionError:
                code = 0 if len(list(dataset)) >= 9 else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_datasets_are_read_at_the_same_time() -> None:
    together = threading.Barrier(3, timeout=20)

    def meet(x: Any) -> Any:
        together.wait()
        return x

    dataset = Dataset.range(3).interleave(lambda x: Dataset.from_tensors(x).map(meet), 3, num_parallel_calls=3)
    assert elements(dataset) == [0, 1, 2]


@pytest.mark.parametrize("cycle", [1, 2, 3, 5])
@pytest.mark.parametrize("block", [1, 2, 3])
@pytest.mark.parametrize("calls", [1, 2, AUTOTUNE])
def test_the_order_is_that_of_turns(cycle: int, block: int, calls: int) -> None:
    def inner(x: Any) -> Dataset:
        return Dataset.range(int(x) * 7 % 5).map(lambda y: x * 10 + y)

    one_by_one = elements(Dataset.range(9).interleave(inner, cycle, block))
    assert elements(Dataset.range(9).interleave(inner, cycle, block, min(calls, cycle))) == one_by_one


def test_failures_of_datasets_their_elements_and_their_names() -> None:
    def inner(x: Any) -> Dataset:
        if x == 1:
            raise KeyError("no dataset")
        return Dataset.range(3).map(lambda y: fragile(y + (x == 3)) + 10 * x)

    names = Dataset.range(6).map(lambda x: 1 // (x - 4) + x - 1 // (x - 4))
    dataset = names.interleave(inner, 2, 1, num_parallel_calls=2)
    expected = drain(start(names.interleave(inner, 2, 1)))
    assert drain(start(dataset)) == expected
    for taken in range(len(expected) + 1):
        iterator = start(dataset)
        for _ in range(taken):
            next_or_name(iterator)
        restored = start(dataset)
        restored.load(iterator.save())
        named = ["UnknownError" if isinstance(x, str) else x for x in expected[taken:]]
        assert ["UnknownError" if isinstance(x, str) else x for x in drain(restored)] == named
        assert drain(iterator) == expected[taken:]


def test_the_first_ready_comes_first_where_that_is_wished() -> None:
    seen = threading.Event()

    def slow(x: Any) -> Any:
        if x == 0:
            assert seen.wait(20)
        return x

    def inner(x: Any) -> Dataset:
        return Dataset.from_tensors(x).map(slow)

    free = Options(deterministic=False)
    for dataset in (
        Dataset.range(3).interleave(inner, 2, num_parallel_calls=2, deterministic=False),
        Dataset.range(3).interleave(inner, 2, num_parallel_calls=2).with_options(free),
    ):
        seen.clear()
        found = []
        for x in dataset:
            found.append(int(x))
            seen.set()
        assert sorted(found) == [0, 1, 2]
        assert found[0] != 0


def test_numbers_are_checked_as_in_tensorflow() -> None:
    source = Dataset.range(3)
    for bad in (0, -2):
        for step in (
            lambda n: source.map(lambda x: x, n),
            lambda n: source.batch(2, num_parallel_calls=n),
            lambda n: source.interleave(Dataset.range, 2, num_parallel_calls=n),
        ):
            with pytest.raises(InvalidArgumentError, match="num_parallel_calls must be greater than zero"):
                step(bad)
    with pytest.raises(InvalidArgumentError, match="num_parallel_calls must be at most 2"):
        source.interleave(Dataset.range, 2, num_parallel_calls=5)
    with pytest.raises(InvalidArgumentError, match="buffer_size must be >= 0"):
        source.prefetch(-2)
    assert len(elements(source.interleave(Dataset.range, AUTOTUNE, num_parallel_calls=AUTOTUNE))) == 3
    assert elements(source.batch(2, num_parallel_calls=AUTOTUNE)) == [[0, 1], [2]]


def test_files_are_read_in_turns(tmp_path: Path) -> None:
    names = []
    for number in range(4):
        names.append(str(tmp_path / str(number)))
        Path(names[-1]).write_text("".join(f"{number}{line}\n" for line in range(number + 1)))

    def read(parallel: int | None) -> list[str]:
        return [line.decode() for line in TextLineDataset(names, num_parallel_reads=parallel)]

    in_order = ["00", "10", "11", "20", "21", "22", "30", "31", "32", "33"]
    assert read(None) == read(1) == in_order
    assert read(2) == ["00", "10", "11", "20", "21", "30", "22", "31", "32", "33"]
    assert read(3) == ["00", "10", "20", "11", "21", "30", "22", "31", "32", "33"]
    assert sorted(read(AUTOTUNE)) == in_order
    with pytest.raises(InvalidArgumentError, match="cycle_length must be greater than zero"):
        TextLineDataset(names, num_parallel_reads=0)
