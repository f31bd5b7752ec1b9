"""shuffle: every order is a function of a seed and a place."""

from __future__ import annotations

import contextlib
import pickle
from typing import Any

from tests.unit.data.helpers import drain, elements, plain, start
from tfsvc.data import UNKNOWN_CARDINALITY, Dataset
from tfsvc.data.operator import Context
from tfsvc.specs import TensorSpec


def test_a_seed_gives_one_order_for_all_time() -> None:
    assert drain(start(Dataset.range(8).shuffle(4, seed=1))) == [0, 4, 5, 1, 2, 6, 7, 3]


def test_elements_come_from_the_next_ones_only() -> None:
    for seed in range(20):
        order = elements(Dataset.range(20).shuffle(3, seed))
        assert sorted(order) == list(range(20))
        assert all(element <= place + 2 for place, element in enumerate(order))


def test_a_buffer_of_one_keeps_the_order_and_one_of_all_takes_any() -> None:
    assert elements(Dataset.range(5).shuffle(1)) == [0, 1, 2, 3, 4]
    firsts = {elements(Dataset.range(5).shuffle(UNKNOWN_CARDINALITY, seed))[0] for seed in range(50)}
    assert firsts == {0, 1, 2, 3, 4}


def test_each_pass_has_its_own_order_unless_told() -> None:
    changing = Dataset.range(20).shuffle(20, seed=1)
    assert list(changing) != list(changing)
    two = elements(changing.repeat(2))
    assert two[:20] != two[20:]
    fixed = Dataset.range(20).shuffle(20, seed=1, reshuffle_each_iteration=False)
    assert list(fixed) == list(fixed)
    assert elements(fixed.repeat(2)) == elements(fixed) * 2


def test_an_unseeded_shuffle_follows_the_seed_of_its_pass() -> None:
    dataset = Dataset.range(20).shuffle(20)
    assert drain(start(dataset, seed=1)) == drain(start(dataset, seed=1))
    assert drain(start(dataset, seed=1)) != drain(start(dataset, seed=2))
    assert Context().seed != Context().seed


def test_two_shuffles_draw_different_luck() -> None:
    one = Dataset.range(20).shuffle(20)
    left, right = zip(*drain(start(Dataset.zip(one, one))), strict=True)
    assert left != right


def test_a_negative_seed_is_a_seed() -> None:
    assert sorted(elements(Dataset.range(5).shuffle(5, seed=-1))) == [0, 1, 2, 3, 4]


def test_the_buffer_and_the_luck_are_saved() -> None:
    dataset = Dataset.range(10).shuffle(4).repeat(2)
    iterator = start(dataset)
    taken = [iterator.next() for _ in range(7)]
    state = iterator.save()
    expected = drain(iterator)
    restored = start(dataset)
    restored.load(state)
    assert drain(restored) == expected
    assert sorted([*map(int, taken), *expected]) == sorted([*range(10)] * 2)


def test_one_unseeded_order_for_good_is_shared_by_all_that_is_made_of_it() -> None:
    fixed = Dataset.range(20).shuffle(20, reshuffle_each_iteration=False)
    assert elements(fixed) == elements(fixed)
    assert elements(fixed.take(5)) + elements(fixed.skip(5)) == elements(fixed)
    assert drain(start(fixed, seed=1)) == drain(start(fixed, seed=2)) == elements(fixed)


def test_blocks_of_columns_are_shuffled_by_the_same_draws() -> None:
    for size in (1, 4, 30, UNKNOWN_CARDINALITY):
        dataset = Dataset.range(20).enumerate().shuffle(size, seed=1)
        iterator, found = start(dataset), []
        for limit in (3, 1, 8, 2, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20):
            with contextlib.suppress(StopIteration):
                block = iterator.block(limit)
                assert block is not None
                found.extend(map(plain, block.elements()))
        assert found == drain(start(dataset))


def test_a_shuffle_changes_from_columns_to_rows_and_is_saved_as_either() -> None:
    dataset = Dataset.range(12).shuffle(5, seed=1)
    expected = drain(start(dataset))
    iterator = start(dataset)
    block = iterator.block(4)
    assert block is not None
    restored = start(dataset)
    restored.load(iterator.save())
    found = [plain(element) for element in block.elements()]
    assert found + drain(iterator) == found + drain(restored) == expected


def test_a_state_says_where_and_not_what() -> None:
    """A shuffle of a source that can be read anywhere keeps no elements."""
    dataset = Dataset.range(100_000).shuffle(60_000, seed=1)
    iterator = start(dataset)
    block = iterator.block(70_000)
    assert block is not None
    state = iterator.save()
    assert len(pickle.dumps(state)) < 200
    restored = start(dataset)
    restored.load(state)
    assert [int(iterator.next()) for _ in range(2000)] == [int(restored.next()) for _ in range(2000)]


def test_an_element_is_read_when_its_turn_comes() -> None:
    read: list[int] = []

    class Items:
        def __len__(self) -> int:
            return 10

        def __getitem__(self, index: int) -> int:
            if index == 3:
                raise ArithmeticError
            read.append(index)
            return index

    found = drain(start(Dataset.from_source(Items(), TensorSpec((), "int32")).shuffle(10, seed=1)))
    order = elements(Dataset.range(10).shuffle(10, seed=1))
    assert found == ["ArithmeticError" if place == 3 else place for place in order]
    assert read == [place for place in order if place != 3]


def test_elements_of_several_forms_are_shuffled_by_the_same_draws() -> None:
    def two_forms(x: int) -> Any:
        return (x, x) if x % 3 == 0 else x

    dataset = Dataset.range(40).map(two_forms)
    order = elements(Dataset.range(40).shuffle(9, seed=1))
    expected = [plain(two_forms(x)) for x in order]
    assert list(map(plain, dataset.shuffle(9, seed=1))) == expected
    assert drain(start(dataset.shuffle(9, seed=1))) == expected
