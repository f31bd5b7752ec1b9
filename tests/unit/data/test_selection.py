"""take, skip, shard, repeat, zip, concatenate, enumerate, prefetch, and the shell around them."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import TensorSpec

five = Dataset.range(5)
some = five.filter(lambda x: x > 1)
endless = five.repeat()


def fragile(x: int) -> int:
    if x == 2:
        raise ArithmeticError
    return x


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        (five.take(2), [0, 1]),
        (five.take(-1), [0, 1, 2, 3, 4]),
        (five.take(9), [0, 1, 2, 3, 4]),
        (five.skip(3), [3, 4]),
        (five.skip(-1), []),
        (some.skip(2), [4]),
        (five.shard(2, 0), [0, 2, 4]),
        (five.shard(2, 1), [1, 3]),
        (five.take(2).repeat(3), [0, 1, 0, 1, 0, 1]),
        (five.repeat(0), []),
        (five.take(0).repeat(), []),
        (five.take(1).concatenate(some), [0, 2, 3, 4]),
        (five.skip(3).enumerate(7), [(7, 3), (8, 4)]),
        (Dataset.zip(five, some), [(0, 2), (1, 3), (2, 4)]),
        (Dataset.zip({"a": five.take(1), "b": (endless,)}), [{"a": 0, "b": (0,)}]),
        (five.prefetch(AUTOTUNE), [0, 1, 2, 3, 4]),
        (five.apply(lambda d: d.take(1)), [0]),
    ],
)
def test_elements(dataset: Dataset, expected: list[object]) -> None:
    assert elements(dataset) == expected
    count = dataset.cardinality()
    assert count in (len(expected), UNKNOWN_CARDINALITY)


@pytest.mark.parametrize(
    ("dataset", "count"),
    [
        (endless, INFINITE_CARDINALITY),
        (endless.take(3), 3),
        (endless.skip(3), INFINITE_CARDINALITY),
        (endless.shard(2, 1), INFINITE_CARDINALITY),
        (endless.concatenate(some), INFINITE_CARDINALITY),
        (five.concatenate(some), UNKNOWN_CARDINALITY),
        (Dataset.zip(five, endless), 5),
        (Dataset.zip(endless, endless), INFINITE_CARDINALITY),
        (Dataset.zip(some, five), UNKNOWN_CARDINALITY),
        (some.take(0), UNKNOWN_CARDINALITY),
        (some.repeat(0), 0),
        (five.take(0).repeat(), 0),
    ],
)
def test_cardinality(dataset: Dataset, count: int) -> None:
    assert dataset.cardinality() == count


def test_concatenated_specs_are_relaxed() -> None:
    assert five.concatenate(five.batch(2)).element_spec == TensorSpec(None, "int64")
    with pytest.raises(TypeError, match="Incompatible"):
        _ = five.concatenate(Dataset.from_tensors(1.5)).element_spec


def test_a_failed_component_costs_the_whole_tuple_and_no_other() -> None:
    failing = five.map(fragile)
    rows = [(0, 0), (1, 1), "ArithmeticError", (3, 3), (4, 4)]
    assert drain(start(Dataset.zip(five, failing))) == rows
    assert drain(start(Dataset.zip(failing, five))) == rows
    assert drain(start(failing.enumerate())) == rows


def test_a_failed_element_does_not_count_for_take_and_skip() -> None:
    assert drain(start(five.map(fragile).take(3))) == [0, 1, "ArithmeticError", 3]
    assert drain(start(five.map(fragile).skip(3))) == ["ArithmeticError", 4]


def test_the_end_is_for_good() -> None:
    iterator = start(Dataset.zip(five.take(1), five).repeat(2).batch(2))
    assert len(drain(iterator)) == 1
    assert drain(iterator) == []
    with pytest.raises(StopIteration):
        iterator.block(4)


def test_blocks_of_pairs() -> None:
    block = start(five.batch(2).enumerate(3).skip(1)).block(8)
    assert block is not None
    assert [(int(i), row.tolist()) for i, row in block.elements()] == [(4, [2, 3])]


def test_lengths() -> None:
    assert len(five) == 5
    assert five.take(0)
    with pytest.raises(TypeError, match="infinite"):
        len(endless)
    with pytest.raises(TypeError, match="unknown"):
        len(some)


def test_the_shell() -> None:
    assert repr(Dataset.zip(five, five.take(1)).batch(2)) == "<Dataset (range, range > take) > zip > batch>"
    iterator = iter(five)
    assert iterator.get_next() == 0
    assert iterator.element_spec == TensorSpec((), "int64")
    assert list(five.as_numpy_iterator()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("arguments", [(0, 0), (2, 2), (2, -1)])
def test_shards_out_of_range(arguments: tuple[int, int]) -> None:
    with pytest.raises(InvalidArgumentError):
        five.shard(*arguments)


def test_zip_wants_datasets() -> None:
    for wrong in ((3,), ([five, five],), ()):
        with pytest.raises(TypeError):
            Dataset.zip(*wrong)
    with pytest.raises(TypeError, match="cannot be set"):
        Dataset.zip(five, datasets=five)


@pytest.mark.parametrize(
    "make",
    [
        lambda: five.batch(0),
        lambda: five.shuffle(0),
        lambda: five.prefetch(-2),
        lambda: five.interleave(lambda x: five, cycle_length=0),
        lambda: five.interleave(lambda x: five, block_length=0),
    ],
)
def test_sizes_must_be_positive(make: object) -> None:
    with pytest.raises(InvalidArgumentError):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("dataset", "first"),
    [
        (Dataset.range(10**12).skip(10**11), 10**11),
        (Dataset.range(10**12).skip(10**11).shard(10**10, 10**10 - 1), 11 * 10**10 - 1),
        (Dataset.counter(3).take(10**12).skip(10**11), 10**11 + 3),
        (Dataset.from_source(range(10**12)).skip(10**11), 10**11),
        (Dataset.range(10).concatenate(Dataset.range(10**12)).skip(10**11), 10**11 - 10),
        (Dataset.range(10**12).enumerate().skip(10**11).map(lambda number, x: number), 10**11),
    ],
)
def test_elements_that_nobody_wants_are_not_made(dataset: Dataset, first: int) -> None:
    assert next(iter(dataset)) == first


def test_what_must_be_made_is_made_a_little_at_a_time() -> None:
    """A function may do more than compute, so it is called all the same."""
    called = []

    def large(x: Any) -> Any:
        called.append(x)
        return np.zeros(1 << 15, np.uint8)

    dataset = Dataset.range(2000).map(large).skip(1990)
    tracemalloc.start()
    try:
        assert len(list(dataset)) == 10
        assert tracemalloc.get_traced_memory()[1] < 500 * (1 << 15)
    finally:
        tracemalloc.stop()
    assert len(called) == 2000
