"""Iterating a dataset in Python: how far it reads ahead, and that nobody sees it."""

from __future__ import annotations

import gc
import itertools
import os
import subprocess
import sys
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import plain
from tfsvc.columns import Columns
from tfsvc.data import Dataset
from tfsvc.data.operator import Context, OperatorIterator, SourceOperator
from tfsvc.data.pace import Pace
from tfsvc.specs import TensorSpec


class Blocks(OperatorIterator):
    """Remembers how many elements it was asked for at once."""

    def __init__(self, seconds: float, size: int) -> None:
        self.asked: list[int] = []
        self._seconds = seconds
        self._row = np.zeros(size, np.uint8)

    def next(self) -> Any:
        raise AssertionError

    def block(self, limit: int) -> Columns:
        self.asked.append(limit)
        time.sleep(self._seconds * limit)
        return Columns(0, (np.broadcast_to(self._row, (limit, *self._row.shape)),), limit)

    def save(self) -> Any: ...

    def load(self, state: Any) -> None: ...


def limits(blocks: Blocks, count: int) -> list[int]:
    pace = Pace()
    for _ in range(count):
        pace.rows(blocks)
    return blocks.asked


def test_slow_elements_come_one_by_one() -> None:
    assert max(limits(Blocks(0.002, 8), 10)) == 1


def test_large_elements_come_one_by_one() -> None:
    assert max(limits(Blocks(0, 1 << 20), 10)) == 1


def test_a_pace_begins_with_one_element_and_has_a_bound() -> None:
    asked = limits(Blocks(0, 1), 200)
    assert asked[0] == 1
    assert max(asked) <= 4096
    assert all(later <= 2 * earlier for earlier, later in itertools.pairwise(asked))


def test_an_element_that_fails_is_told_in_its_place() -> None:
    def fragile(x: int) -> int:
        if x % 100 == 50:
            raise ArithmeticError(int(x))
        return x

    iterator, found = iter(Dataset.range(400).map(fragile)), []
    while True:
        try:
            found.append(int(next(iterator)))
        except ArithmeticError as error:
            found.append(-error.args[0])
        except StopIteration:
            break
    assert found == [-x if x % 100 == 50 else x for x in range(400)]


def test_nothing_is_called_twice_or_left_out() -> None:
    calls: list[int] = []

    def note(x: int) -> int:
        calls.append(int(x))
        if x == 70:
            raise ArithmeticError
        return x

    assert len(list(Dataset.range(200).map(note).ignore_errors())) == 199
    assert calls == list(range(200))


def test_results_of_several_forms_come_in_order() -> None:
    def forms(x: int) -> Any:
        return [x, (x, x), {"a": x}, np.full(int(x) % 3, x)][int(x) % 4]

    assert [plain(e) for e in Dataset.range(100).map(forms)] == [plain(forms(np.int64(x))) for x in range(100)]


class Counted(SourceOperator):
    """A source that must not be read ahead."""

    name = "counted"
    taken = 0

    @property
    def may_read_ahead(self) -> bool:
        return False

    def cardinality(self) -> int:
        return 1000

    def iterator(self, context: Context) -> OperatorIterator:
        return _CountedIterator()

    def _make_spec(self) -> Any:
        return TensorSpec((), "int64")

    def _make_examples(self) -> tuple[Any, ...]:
        return (np.int64(0),)


class _CountedIterator(OperatorIterator):
    def next(self) -> Any:
        Counted.taken += 1
        return np.int64(Counted.taken)

    def block(self, limit: int) -> Columns:
        Counted.taken += limit
        return Columns(0, (np.zeros(limit, np.int64),), limit)

    def save(self) -> Any: ...

    def load(self, state: Any) -> None: ...


@pytest.mark.parametrize(
    "make",
    [
        lambda counted: counted,
        lambda counted: counted.map(lambda x: x).enumerate(),
        lambda counted: Dataset.range(1).flat_map(lambda _: counted),
        lambda counted: Dataset.range(1).interleave(lambda _: counted),
    ],
)
def test_what_counts_as_read_when_it_is_taken_is_not_read_ahead(make: Any) -> None:
    dataset = make(Dataset(Counted()))
    Counted.taken = 0
    iterator = iter(dataset)
    for number in range(1, 200):
        next(iterator)
        assert Counted.taken == number


def test_threads_share_the_elements_of_an_iterator() -> None:
    iterator = iter(Dataset.range(20_000).map(lambda x: x))
    found: list[list[int]] = [[] for _ in range(4)]

    def read(into: list[int]) -> None:
        into.extend(map(int, iterator))

    threads = [threading.Thread(target=read, args=(part,)) for part in found]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert all(part == sorted(part) for part in found)
    assert sorted(itertools.chain(*found)) == list(range(20_000))


SHARED = """
import itertools, sys, threading
from tfsvc.data.dataset import Dataset
sys.setswitchinterval(1e-6)

def fail(x):
    if x % 97 == 5:
        raise ValueError(x)
    return x

def read(iterator, into):
    while True:
        try:
            into.append(int(next(iterator)))
        except StopIteration:
            return
        except ValueError:
            pass

for _ in range(2000):
    iterator = iter(Dataset.range(700).map(fail))
    found = [[] for _ in range(6)]
    threads = [threading.Thread(target=read, args=(iterator, part)) for part in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(itertools.chain(*found)) == [x for x in range(700) if x % 97 != 5]
"""


def test_threads_that_share_an_iterator_meet_its_failures_and_its_end_unharmed() -> None:
    """In a process of its own: what could go wrong here would end the interpreter."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", SHARED], env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_who_is_interrupted_goes_on_where_he_was() -> None:
    raised: list[int] = []

    def interrupt(x: int) -> int:
        if x % 10 == 7 and x not in raised:
            raised.append(x)
            raise KeyboardInterrupt
        return x

    iterator, found = iter(Dataset.range(30).map(interrupt)), []
    while True:
        try:
            found.append(int(next(iterator)))
        except KeyboardInterrupt:
            continue
        except StopIteration:
            break
    assert raised == [7, 17, 27]
    assert found == list(range(30))
    assert next(iterator, "the end stays the end") == "the end stays the end"


def test_an_iterator_ends_with_its_last_reference() -> None:
    iterator = iter(Dataset.range(100))
    next(iterator)
    gone = weakref.ref(iterator._reading)
    gc.disable()
    try:
        del iterator
        assert gone() is None
    finally:
        gc.enable()
