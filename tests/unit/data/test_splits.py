"""Datasets that are given their input split by split."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.data.helpers import drain, plain, start
from tfsvc.data import Dataset
from tfsvc.data.operator import OperatorIterator
from tfsvc.protocol.splits import Lease, Span, SplitFeed, SplitPlan, SplitPosition, Starved


def feed(provider: int = 0, *splits: int, ended: bool = False, repetition: int = 0) -> SplitFeed:
    made = SplitFeed(provider, SplitPosition(repetition, 0))
    give(made, *splits, ended=ended)
    return made


def give(to: SplitFeed, *splits: int, ended: bool = False, repetition: int | None = None) -> None:
    at = SplitPosition(to.at.repetition if repetition is None else repetition, 0)
    at = at._replace(offset=to.end_of(at.repetition))
    to.add(Lease(to.provider, at, tuple(Span(i, i + 1) for i in splits), ended))


def given(iterator: OperatorIterator) -> list[Any]:
    """What comes before more splits are needed."""
    found: list[Any] = []
    while True:
        try:
            found.append(plain(iterator.next()))
        except Starved:
            return found


def test_a_source_reads_the_positions_it_is_given() -> None:
    splits = feed(0, 2, 0, ended=True)
    assert drain(start(Dataset.range(10, 40, 10), splits)) == [30, 10]
    assert drain(start(Dataset.from_tensor_slices(["a", "b", "c"]), feed(0, 1, ended=True))) == [b"b"]
    assert drain(start(Dataset.from_tensors(5), feed(0, ended=True))) == []


def test_a_worker_without_the_split_of_a_generator_runs_nothing() -> None:
    dataset = Dataset.from_generator(lambda: [1, 2], output_types="int64")
    assert drain(start(dataset, feed(0, ended=True))) == []
    assert drain(start(dataset, feed(0, 0, ended=True))) == [1, 2]


def test_a_half_built_batch_waits_for_more_splits() -> None:
    splits = feed(0, 0)
    iterator = start(Dataset.range(9).batch(2), splits)
    assert given(iterator) == []
    give(splits, 5, 6)
    assert given(iterator) == [[0, 5]]
    give(splits, ended=True)
    assert drain(iterator) == [[6]]


def test_a_half_built_tuple_waits_for_more_splits() -> None:
    left, right = feed(0, 0, 1), feed(1)
    iterator = start(Dataset.zip(Dataset.range(5), Dataset.range(50, 60)), left, right)
    assert given(iterator) == []
    give(right, 3)
    assert given(iterator) == [(0, 53)]
    give(right, 4, ended=True)
    assert given(iterator) == [(1, 54)]


def test_a_shuffle_waits_until_its_buffer_is_full() -> None:
    splits = feed(0, 0, 1)
    iterator = start(Dataset.range(9).shuffle(3), splits)
    assert given(iterator) == []
    give(splits, 2, ended=True)
    assert sorted(drain(iterator)) == [0, 1, 2]


def test_providers_are_those_of_the_inputs_in_order() -> None:
    dataset = Dataset.zip(Dataset.range(1), (Dataset.range(2).concatenate(Dataset.range(3))).enumerate()).repeat()
    assert dataset.operator.plans() == (SplitPlan(1), SplitPlan(2), SplitPlan(3))


def test_concatenate_reads_each_side_from_its_own_provider() -> None:
    first, second = feed(0, 1, ended=True), feed(1, 0, ended=True)
    dataset = Dataset.range(3).concatenate(Dataset.range(10, 12))
    assert drain(start(dataset, first, second)) == [1, 10]


def test_repeat_goes_on_to_the_splits_of_the_next_repetition() -> None:
    splits = feed(0, 1, ended=True)
    give(splits, 0, 2, ended=True, repetition=1)
    assert drain(start(Dataset.range(3).repeat(2), splits)) == [1, 0, 2]


def test_an_empty_pass_does_not_end_an_endless_repetition() -> None:
    splits = feed(0, ended=True)
    give(splits, 2, ended=True, repetition=1)
    iterator = start(Dataset.range(3).repeat(), splits)
    assert given(iterator) == [2]
    assert splits.at == SplitPosition(2, 0)


def test_an_endless_repetition_of_nothing_ends_under_splits_too() -> None:
    assert drain(start(Dataset.range(3).take(0).repeat(), feed())) == []
    assert drain(start(Dataset.range(3).filter(lambda x: x > 1).take(0).repeat(), feed(0, 0, ended=True))) == []


def test_each_worker_counts_for_itself() -> None:
    assert drain(start(Dataset.range(9).enumerate(), feed(0, 7, 8, ended=True))) == [(0, 7), (1, 8)]


def test_inner_datasets_run_whole() -> None:
    dataset = Dataset.range(9).flat_map(lambda x: Dataset.range(2).map(lambda y: 10 * x + y))
    assert drain(start(dataset, feed(0, 4, 2, ended=True))) == [40, 41, 20, 21]


def test_blocks_follow_the_spans_of_a_lease() -> None:
    splits = SplitFeed(0)
    splits.add(Lease(0, SplitPosition(0, 0), (Span(0, 3), Span(7, 9)), ended=True))
    iterator = start(Dataset.range(9).batch(2), splits)
    blocks = [iterator.block(8) for _ in range(3)]
    assert [plain(row) for block in blocks if block is not None for row in block.elements()] == [[0, 1], [2, 7], [8]]
    with pytest.raises(StopIteration):
        iterator.block(8)


def test_a_state_and_the_positions_of_the_feeds_are_enough_to_go_on() -> None:
    dataset = Dataset.range(6).shuffle(2).batch(2)
    splits = feed(0, 0, 1, 2, 3)
    iterator = start(dataset, splits)
    found = given(iterator)
    again = SplitFeed(0, splits.at)
    restored = start(dataset, again)
    restored.load(iterator.save())
    for lease_holder in (splits, again):
        give(lease_holder, 4, 5, ended=True)
    rest = drain(restored)
    assert rest == drain(iterator)
    assert sorted(number for batch in found + rest for number in batch) == [0, 1, 2, 3, 4, 5]


def test_tuples_of_columns_stay_aligned_when_an_input_fails() -> None:
    def fragile(x: int) -> int:
        if x == 1:
            raise ArithmeticError
        return x

    dataset = Dataset.zip(Dataset.range(10, 14), Dataset.range(4).map(fragile))
    iterator = start(dataset)
    block = iterator.block(4)
    assert block is not None
    assert list(map(plain, block.elements())) == [(10, 0)]
    assert drain(iterator) == ["ArithmeticError", (12, 2), (13, 3)]


def test_tuples_are_made_of_columns() -> None:
    inputs = {"b": Dataset.range(5).enumerate(), "a": Dataset.range(10, 13).concatenate(Dataset.range(20, 29))}
    dataset = Dataset.zip(inputs)
    iterator = start(dataset)
    blocks = [iterator.block(4) for _ in range(3)]
    found = [plain(row) for block in blocks if block is not None for row in block.elements()]
    assert found == [{"b": (i, i), "a": a} for i, a in enumerate([10, 11, 12, 20, 21])]
    with pytest.raises(StopIteration):
        iterator.block(4)
