"""An element never changes, whatever user code does with its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import elements, start
from tfsvc import nest
from tfsvc.data import Dataset
from tfsvc.data.experimental import vectorized
from tfsvc.data.functions import call_for_element
from tfsvc.data.operator import Context


class Reusing:
    """Fills one buffer again and again."""

    def __init__(self, wrap: Any = lambda buffer: buffer) -> None:
        self.buffer = np.zeros(2, np.int64)
        self.wrap = wrap

    def __call__(self, x: Any) -> Any:
        self.buffer[:] = x
        return self.wrap(self.buffer)


WRAPS = {
    "itself": lambda buffer: buffer,
    "a view": lambda buffer: buffer[::-1],
    "a view of a view": lambda buffer: buffer[:].reshape(1, 2),
    "in a tuple": lambda buffer: (buffer, 1),
    "in a list": lambda buffer: [buffer, buffer],
    "in a dict": lambda buffer: {"a": (buffer[:1], "text")},
    "as a memoryview's array": lambda buffer: np.asarray(memoryview(buffer)),
}


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
@pytest.mark.parametrize("calls", [None, 1])
def test_a_buffer_that_is_used_again_does_not_change_elements(wrap: Any, calls: int | None) -> None:
    held = list(Dataset.range(3).map(Reusing(wrap), calls))
    fresh = elements(Dataset.range(3).map(lambda x: wrap(np.full(2, x))))
    assert elements(Dataset.from_tensors(0).map(lambda _: tuple(held))) == [tuple(fresh)]


def test_sources_that_use_a_buffer_again() -> None:
    class Items:
        buffer = np.zeros(2)

        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: int) -> Any:
            self.buffer[:] = index
            return {"a": self.buffer}

    def generate() -> Any:
        buffer = np.zeros(1, np.int64)
        for value in range(3):
            buffer[:] = value
            yield buffer

    assert [x["a"].tolist() for x in list(Dataset.from_source(Items()))] == [[0, 0], [1, 1], [2, 2]]
    generated = Dataset.from_generator(generate, output_types="int64", output_shapes=[1])
    assert [x.tolist() for x in list(generated)] == [[0], [1], [2]]


def test_a_state_and_columns_too() -> None:
    function = Reusing()
    scanned = Dataset.range(3).scan(np.zeros(2, np.int64), lambda s, x: (function(x), function(x)))
    assert [x.tolist() for x in list(scanned)] == [[0, 0], [1, 1], [2, 2]]

    buffer = np.zeros(100, np.int64)

    def fill(x: Any) -> Any:
        buffer[: len(x)] = x
        return buffer[: len(x)]

    assert elements(Dataset.range(6).map(vectorized(fill)).batch(2).batch(3)) == [[[0, 1], [2, 3], [4, 5]]]


def test_what_nobody_else_can_reach_is_not_copied() -> None:
    places: list[int] = []

    def place(array: Any) -> int:
        return int(array.__array_interface__["data"][0])

    def make(x: Any) -> Any:
        array = np.arange(100) + x
        places.append(place(array))
        view = array.reshape(10, 10)[::2]
        return view, {"b": np.full(1000, 2.0)}

    def make_one(x: Any) -> Any:
        array = np.zeros(1000)
        places.append(place(array))
        return array

    made, _ = call_for_element(make, np.int64(1))
    alone = call_for_element(make_one, np.int64(1))
    listed = call_for_element(lambda x: [make_one(x)], np.int64(1))
    assert places == [place(made), place(alone), place(listed[0])]


def test_an_argument_is_passed_on_without_a_copy() -> None:
    array = np.arange(10)
    assert call_for_element(lambda x: x, array) is array
    passed = call_for_element(lambda x: (x[2:], x), array)
    assert np.shares_memory(passed[0], array)
    assert passed[1] is array


def test_an_argument_cannot_be_written_to() -> None:
    def write(x: Any) -> Any:
        x += 1
        return x

    for source in (Dataset.from_tensors({"a": np.zeros(2)}).map(lambda e: e["a"]), Dataset.range(4).batch(2)):
        for dataset in (source.map(write), source.map(write, 2), source.cache().map(write)):
            with pytest.raises(ValueError, match="read-only"):
                start(dataset).next()


def test_arrays_of_the_user_stay_his_own() -> None:
    rows = [np.zeros(2), np.ones(2)]
    for dataset in (Dataset.from_source(rows), Dataset.from_tensors(rows[0]), Dataset.from_tensor_slices(rows[0])):
        list(dataset.map(lambda x: x))
    rows[0][:] = 5
    assert rows[0].flags.writeable
    state = np.zeros(2)
    Dataset.range(2).reduce(state, lambda s, x: s + x)
    list(Dataset.range(2).scan(state, lambda s, x: (s + x, x)))
    state[:] = 1


def test_what_is_called_for_a_block_is_kept_apart_too() -> None:
    buffer = np.zeros(2, np.int64)
    writable: list[bool] = []

    def fill(x: Any) -> Any:
        writable.append(x.flags.writeable)
        buffer[:] = x
        return buffer

    rows = Dataset.from_tensor_slices(np.arange(8).reshape(4, 2))
    for mark in (lambda x: x, lambda x: (x, x)):
        block = rows.map(fill).map(mark).operator.iterator(Context(seed=0)).block(4)
        assert block is not None
        found = [np.ravel(nest.flatten(element)[0]).tolist() for element in block.elements()]
        assert found == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert writable == [False] * 8


def test_a_dict_that_is_used_again_does_not_change_elements() -> None:
    used: dict[str, Any] = {}

    def fill(x: Any) -> Any:
        used.update(a=np.full(2, x), b=x)
        return used

    made = Dataset.range(50).map(fill)
    assert [e["b"] for e in list(made)] == list(range(50))
    assert [e["a"].tolist() for e in list(made.filter(lambda e: e["b"] % 2 == 0))] == [[x, x] for x in range(0, 50, 2)]


def test_an_argument_that_a_function_changes_is_its_own() -> None:
    def change(element: Any) -> Any:
        element["b"] = element.pop("a")
        return element["b"] % 2 == 0

    pairs = Dataset.range(40).map(lambda x: {"a": x})
    assert [list(e) for e in list(pairs.filter(change))] == [["a"]] * 20
