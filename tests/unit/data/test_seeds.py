"""Where the two seeds of a random operator come from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.data.helpers import elements
from tfsvc import random
from tfsvc.data import Dataset


@pytest.fixture(autouse=True)
def _no_global_seed() -> Iterator[None]:
    yield
    random.set_seed(None)


def test_the_seeds_of_an_operator() -> None:
    assert random.operator_seeds(None) is None
    assert random.operator_seeds(3) == (87654321, 3)
    random.set_seed(7)
    assert random.operator_seeds(3) == (7, 3)
    drawn = [random.operator_seeds(None), random.operator_seeds(None)]
    assert drawn == [(7, 1390851128), (7, 647892279)]
    random.set_seed(7)
    assert [random.operator_seeds(None), random.operator_seeds(None)] == drawn
    random.set_seed(0)
    assert random.operator_seeds(0) == (0, 2**31 - 1)


def test_the_seeds_inside_a_function() -> None:
    with random.seeds_of_function(None, 99):
        assert [random.operator_seeds(seed) for seed in (None, 3, None)] == [(99, 0), (87654321, 3), (99, 1)]
    with random.seeds_of_function(5, 99):
        assert [random.operator_seeds(seed) for seed in (None, 3)] == [(5, 0), (5, 3)]
    assert random.operator_seeds(None) is None


def test_a_global_seed_makes_unseeded_datasets_repeatable() -> None:
    random.set_seed(1)
    one = Dataset.range(20).shuffle(20)
    random.set_seed(1)
    two = Dataset.range(20).shuffle(20)
    assert elements(one) == elements(two) != elements(Dataset.range(20).shuffle(20))


def test_the_seed_of_the_time_when_a_function_was_given_counts() -> None:
    random.set_seed(1)
    dataset = Dataset.range(2).flat_map(lambda x: Dataset.range(20).shuffle(20))
    first = elements(dataset)
    random.set_seed(2)
    assert elements(dataset) == first
    assert first[:20] == first[20:]


def test_unseeded_shuffles_in_a_function_differ_by_place() -> None:
    dataset = Dataset.range(2).flat_map(
        lambda x: Dataset.range(20).shuffle(20, reshuffle_each_iteration=False).repeat(2)
    )
    found = elements(dataset, 80)
    assert found[:20] == found[20:40]
    assert found[40:60] == found[60:] != found[:20]
