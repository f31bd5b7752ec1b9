"""What tells an element apart is the same wherever it is made, and its random numbers with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from tests.pipelines.elements import plain
from tests.properties.test_datasets import LIMIT, SEED, Worker, datasets, mixed, rest, whole
from tfsvc.data import Dataset
from tfsvc.data.experimental import seeded
from tfsvc.data.operator import Context, Operator
from tfsvc.protocol.splits import Lease, Span, SplitFeed, SplitPosition, Starved
from tfsvc.specs import TensorSpec


@given(datasets(), st.lists(st.integers(0, 7), min_size=1, max_size=8))
def test_numbers_stand_beside_the_same_elements(dataset: Dataset, limits: list[int]) -> None:
    expected = rest(whole(dataset.operator))
    pairs = rest(whole(dataset.operator.identified))
    assert [pair if isinstance(pair, str) else pair[1] for pair in pairs] == expected
    assert mixed(whole(dataset.operator.identified), limits) == pairs
    assert Worker(dataset.operator.identified).rest() == pairs


@given(datasets())
def test_the_spec_of_pairs_is_known_where_that_of_elements_is(dataset: Dataset) -> None:
    try:
        spec = dataset.element_spec
    except Exception:
        reject()
    assert dataset.operator.identified.spec() == (spec, TensorSpec((), "uint64"))


@given(datasets())
def test_no_two_elements_have_one_number(dataset: Dataset) -> None:
    # What is no pair is the name of an error.
    numbers = [pair[2] for pair in rest(whole(dataset.operator.identified)) if not isinstance(pair, str)]
    assert len(set(numbers)) == len(numbers)


@given(datasets(), st.integers(0, 15))
def test_a_restored_iterator_goes_on_with_the_same_numbers(dataset: Dataset, taken: int) -> None:
    saved = whole(dataset.operator.identified)
    rest(saved, taken)
    state = saved.save()
    expected = rest(saved)
    restored = whole(dataset.operator.identified)
    restored.load(state)
    assert rest(restored) == expected


@seeded
def draw(*element: Any, rng: np.random.Generator) -> Any:
    return (*element, rng.integers(1 << 40))


@seeded
def draw_row(*element: Any, rng: np.random.Generator) -> Any:
    return np.append(np.ravel(element[0]), rng.integers(1 << 40, size=2))


def inner(*element: Any) -> Dataset:
    return Dataset.range(int(np.ravel(element[0])[0]) % 3).map(draw)


Step = Callable[[Dataset], Dataset]
STEPS: list[Step] = [
    lambda d: d.map(draw),
    lambda d: d.map(draw, num_parallel_calls=2),
    lambda d: d.map(lambda *e: e[0]),
    lambda d: d.filter(lambda *e: np.ravel(e[0])[0] % 3 != 1),
    lambda d: d.flat_map(inner),
    lambda d: d.interleave(inner, cycle_length=2, block_length=2),
    lambda d: d.interleave(inner, 2, 2, num_parallel_calls=2),
    lambda d: d.shuffle(3),
    lambda d: d.repeat(2),
    lambda d: d.prefetch(2),
    lambda d: d.cache(),
    lambda d: d.map(draw_row).unbatch(),
    lambda d: d.ignore_errors(),
    lambda d: d.concatenate(d),
]


class Lanes:
    """Several pipelines of one iteration, each with luck of its own, that share its splits."""

    def __init__(self, operator: Operator, turns: list[int]) -> None:
        self._plans = operator.plans()
        self._turns = turns
        self._dealt: Counter[tuple[int, int]] = Counter()
        self._operator = operator

    def run(self) -> list[Any]:
        lanes = []
        for number in range(max(self._turns) + 1):
            feeds = tuple(SplitFeed(i, SplitPosition(0, 0)) for i in range(len(self._plans)))
            lanes.append((feeds, self._operator.iterator(Context(feeds, seed=number, shared_seed=SEED))))
        found, ended, turn = [], set[int](), 0
        while len(ended) < len(lanes):
            number = self._turns[turn % len(self._turns)] if turn < 200 else turn % len(lanes)
            turn += 1
            feeds, iterator = lanes[number]
            try:
                found.append(plain(iterator.next()))
            except StopIteration:
                ended.add(number)
            except Starved as starved:
                feeds[starved.provider].add(self._lease(starved))
        return found

    def _lease(self, starved: Starved) -> Lease:
        count = self._plans[starved.provider].count
        key = starved.provider, starved.at.repetition
        position = self._dealt[key]
        if count is not None and position >= count:
            return Lease(starved.provider, starved.at, (), True)
        self._dealt[key] += 1
        return Lease(starved.provider, starved.at, (Span(position, position + 1),), False)


@given(
    st.one_of(
        st.integers(1, 7).map(Dataset.range),
        st.integers(1, 7).map(lambda n: Dataset.from_tensor_slices(np.arange(n))),
        st.integers(1, 7).map(lambda n: Dataset.from_generator(lambda: iter(range(n)), output_types="int64")),
        st.integers(1, 7).map(lambda n: Dataset.from_source(np.arange(n))),
    ),
    st.lists(st.sampled_from(STEPS), max_size=4),
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
)
@settings(deadline=None)
def test_any_number_of_lanes_draws_the_same(dataset: Dataset, steps: list[Step], turns: list[int]) -> None:
    cached = False
    for step in steps:
        # A cache repeats the splits that its own lane saw first.
        cached = cached or step is STEPS[10]
        if not (cached and step is STEPS[8]):
            dataset = step(dataset)
    operator = dataset.map(draw).operator
    expected = rest(operator.iterator(Context(seed=0, shared_seed=SEED)), 40 * LIMIT)
    assert sorted(map(repr, Lanes(operator, turns).run())) == sorted(map(repr, expected))
