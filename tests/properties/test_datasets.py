"""Random compositions of operators keep the promises of the operator contract."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.properties.files import datasets_of_files
from tfsvc import nest
from tfsvc.data import Dataset, Options
from tfsvc.data.experimental import vectorized
from tfsvc.data.operator import Context, Operator, OperatorIterator
from tfsvc.protocol.splits import Lease, Span, SplitFeed, SplitPosition, Starved

SEED = 7
LIMIT = 60
"""Elements that are read at most, since some of the datasets are endless."""

Step = Callable[[Dataset], Dataset]


def first(element: Any) -> Any:
    """A number of any element, so that functions may stand anywhere in a chain."""
    while isinstance(element, tuple):
        element = element[0]
    return np.ravel(element)[0] if np.size(element) else np.int64(0)


def inner(*element: Any) -> Dataset:
    return Dataset.range(int(first(element)) % 3).shuffle(2)


STEPS: list[st.SearchStrategy[Step]] = [
    st.integers(0, 6).map(lambda n: lambda d: d.take(n)),
    st.integers(0, 4).map(lambda n: lambda d: d.skip(n)),
    st.integers(0, 3).map(lambda n: lambda d: d.repeat(n)),
    st.integers(1, 5).map(lambda n: lambda d: d.shuffle(n, seed=n)),
    st.integers(1, 5).map(lambda n: lambda d: d.shuffle(n)),
    st.integers(0, 3).map(lambda n: lambda d: d.enumerate(n)),
    st.just(lambda d: d.map(lambda *e: first(e) + 1)),
    st.just(lambda d: d.filter(lambda *e: first(e) % 3 != 1)),
    st.just(lambda d: d.prefetch(2)),
    st.just(lambda d: d.flat_map(inner)),
    st.integers(1, 3).map(lambda n: lambda d: d.interleave(inner, cycle_length=n, block_length=4 - n)),
    st.tuples(st.integers(1, 4), st.booleans()).map(lambda p: lambda d: scalars(d).batch(*p)),
    st.integers(1, 3).map(lambda n: lambda d: scalars(d).batch(n).unbatch()),
    st.integers(1, 3).map(lambda n: lambda d: d.shard(n, n - 1)),
    st.tuples(st.integers(1, 3), st.sampled_from([[None], [4]]), st.booleans()).map(
        lambda p: lambda d: d.map(lambda *e: np.arange(first(e) % 4)).padded_batch(p[0], p[1], drop_remainder=p[2])
    ),
    st.integers(1, 4).map(lambda n: lambda d: scalars(d).batch(2).rebatch([n, 2])),
    st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 2), st.booleans()).map(
        lambda p: lambda d: scalars(d).window(*p).flat_map(lambda w: w.batch(4))
    ),
    st.integers(1, 3).map(
        lambda n: lambda d: scalars(d).group_by_window(lambda x: x % n, lambda k, g: g.batch(2), window_size=n)
    ),
    st.just(lambda d: scalars(d).scan(np.int64(1), lambda s, x: (s + x, s))),
    st.just(lambda d: d.take_while(lambda *e: first(e) < 4)),
    st.just(lambda d: scalars(d).unique()),
    st.just(lambda d: d.ignore_errors()),
    st.just(lambda d: d.cache()),
    st.just(lambda d: d.shuffle(3).cache().repeat(2)),
    st.booleans().map(
        lambda stop: (
            lambda d: Dataset.choose_from_datasets([scalars(d), Dataset.range(3)], Dataset.range(2).repeat(4), stop)
        )
    ),
    st.integers(0, 3).map(
        lambda n: lambda d: Dataset.sample_from_datasets([scalars(d), Dataset.range(3)], [0.4, 0.6], seed=n)
    ),
    st.integers(0, 3).map(
        lambda n: (
            lambda d: scalars(
                d.rejection_resample(lambda *e: np.int32(first(e) % 2), [0.5, 0.5], seed=n).map(lambda label, e: e)
            )
        )
    ),
    st.integers(1, 3).map(lambda n: lambda d: d.map(lambda *e: first(e) + 1, num_parallel_calls=n)),
    st.just(lambda d: scalars(d).map(vectorized(lambda x: (x, x * 2)))),
    st.just(lambda d: d.with_options(Options(deterministic=False))),
]


def scalars(dataset: Dataset) -> Dataset:
    return dataset.map(lambda *e: first(e))


def sources() -> st.SearchStrategy[Dataset]:
    return st.one_of(
        st.integers(0, 7).map(Dataset.range),
        st.integers(1, 7).map(lambda n: Dataset.range(20, 20 - 2 * n, -2)),
        st.integers(1, 7).map(lambda n: Dataset.from_tensor_slices(np.arange(n))),
        st.integers(0, 4).map(lambda n: Dataset.from_generator(lambda: iter(range(n)), output_types="int64")),
        st.just(Dataset.from_tensors(np.int64(5))),
        st.integers(0, 6).map(lambda n: Dataset.random(seed=n).take(n)),
        st.integers(0, 6).map(lambda n: Dataset.counter(n, 2).take(n)),
        st.integers(1, 6).map(lambda n: Dataset.from_source(np.arange(n))),
        st.deferred(lambda: st.sampled_from(datasets_of_files())),
    )


@st.composite
def datasets(draw: st.DrawFn, steps: int = 4) -> Dataset:
    dataset = draw(sources())
    for step in draw(st.lists(st.one_of(STEPS), max_size=steps)):
        dataset = step(dataset)
    match draw(st.sampled_from(["alone", "endless", "zip", "concatenate"])) if steps > 1 else "alone":
        case "endless":
            # An empty pass ends the whole dataset but not one under splits, so no pass may be empty.
            full = scalars(dataset).concatenate(Dataset.range(1))
            return full.repeat().batch(draw(st.integers(1, 3)))
        case "zip":
            return Dataset.zip(dataset, draw(datasets(1)))
        case "concatenate":
            return scalars(dataset).concatenate(scalars(draw(datasets(1)))).repeat(draw(st.integers(1, 2)))
        case _:
            return dataset


def plain(element: Any) -> Any:
    if isinstance(element, tuple):
        return tuple(map(plain, element))
    return element if isinstance(element, bytes) else element.tolist()


def rest(iterator: OperatorIterator, limit: int = LIMIT) -> list[Any]:
    found: list[Any] = []
    while len(found) < limit:
        try:
            found.append(plain(iterator.next()))
        except StopIteration:
            break
    return found


def whole(operator: Operator) -> OperatorIterator:
    return operator.iterator(Context(seed=SEED))


class Worker:
    """A job of one worker that asks for one split at a time."""

    def __init__(self, operator: Operator, at: tuple[SplitPosition, ...] | None = None) -> None:
        self.plans = operator.plans()
        places = at or (SplitPosition(0, 0),) * len(self.plans)
        self.feeds = tuple(SplitFeed(i, place) for i, place in enumerate(places))
        self.iterator = operator.iterator(Context(self.feeds, SEED))

    def grant(self, starved: Starved) -> None:
        count = self.plans[starved.provider].count
        offset = starved.at.offset
        ended = count is not None and offset >= count
        spans = () if ended else (Span(offset, offset + 1),)
        self.feeds[starved.provider].add(Lease(starved.provider, starved.at, spans, ended))

    def next(self) -> Any:
        # An endless repetition that gives nothing asks for splits for ever: that is TensorFlow's rule too.
        for _ in range(200):
            try:
                return plain(self.iterator.next())
            except Starved as starved:
                self.grant(starved)
        raise StopIteration

    def rest(self, limit: int = LIMIT) -> list[Any]:
        found: list[Any] = []
        while len(found) < limit:
            try:
                found.append(self.next())
            except StopIteration:
                break
        return found


@given(datasets(), st.integers(0, 15))
def test_a_restored_iterator_goes_on_where_the_saved_one_stood(dataset: Dataset, taken: int) -> None:
    saved = whole(dataset.operator)
    rest(saved, taken)
    state = saved.save()
    expected = rest(saved)
    restored = whole(dataset.operator)
    restored.load(state)
    assert rest(restored) == expected


@given(datasets(), st.lists(st.integers(0, 7), min_size=1, max_size=4), st.integers(0, 8))
def test_a_state_saved_between_blocks_goes_on_from_there(dataset: Dataset, limits: list[int], steps: int) -> None:
    saved = whole(dataset.operator)
    with contextlib.suppress(StopIteration):
        for limit in itertools.islice(itertools.cycle(limits), steps):
            if not limit or saved.block(limit) is None:
                saved.next()
    state = saved.save()
    expected = rest(saved)
    restored = whole(dataset.operator)
    restored.load(state)
    assert rest(restored) == expected


@given(datasets())
def test_splits_given_one_by_one_make_the_elements_of_the_whole(dataset: Dataset) -> None:
    assert Worker(dataset.operator).rest() == rest(whole(dataset.operator))


@given(datasets(), st.integers(0, 15), st.booleans())
def test_a_state_saved_under_splits_goes_on_from_their_positions(dataset: Dataset, taken: int, starving: bool) -> None:
    worker = Worker(dataset.operator)
    worker.rest(taken)
    if starving:
        with contextlib.suppress(Starved, StopIteration):
            worker.iterator.next()
    at = tuple(feed.at for feed in worker.feeds)
    state = worker.iterator.save()
    expected = worker.rest()
    again = Worker(dataset.operator, at)
    again.iterator.load(state)
    assert again.rest() == expected


@given(datasets(), st.lists(st.integers(0, 7), min_size=1, max_size=8))
def test_blocks_and_single_elements_mix(dataset: Dataset, limits: list[int]) -> None:
    expected = rest(whole(dataset.operator))
    iterator = whole(dataset.operator)
    assert mixed(iterator, limits) == expected


@given(datasets(), st.lists(st.integers(0, 7), min_size=1, max_size=8))
def test_blocks_mix_under_splits_as_well(dataset: Dataset, limits: list[int]) -> None:
    expected = rest(whole(dataset.operator))
    worker = Worker(dataset.operator)
    assert mixed(worker.iterator, limits, worker.grant) == expected


@given(datasets(), st.lists(st.integers(0, 7), min_size=1, max_size=8))
@example(Dataset.range(7).shuffle(3, seed=1), [4])
def test_a_pipeline_gives_all_it_can_before_it_asks_for_splits(dataset: Dataset, limits: list[int]) -> None:
    """Between two splits there are the same elements, whichever way they are asked for."""
    assert given_before_splits(dataset, limits) == given_before_splits(dataset, [0])


def given_before_splits(dataset: Dataset, limits: list[int]) -> list[int]:
    """How many elements had come by the time each split was asked for."""
    worker = Worker(dataset.operator)
    found: list[int] = []
    given = 0
    for limit in itertools.islice(itertools.cycle(limits), 40 * LIMIT):
        if given >= LIMIT:
            break
        try:
            block = worker.iterator.block(limit) if limit else None
            if block is None:
                worker.iterator.next()
            given += 1 if block is None else block.count
        except StopIteration:
            break
        except Starved as starved:
            found.append(given)
            worker.grant(starved)
    return [count for count in found if count < LIMIT]


def mixed(iterator: OperatorIterator, limits: list[int], grant: Callable[[Starved], None] | None = None) -> list[Any]:
    """Elements by ``next`` where the limit is 0, else by ``block``."""
    found: list[Any] = []
    for limit in itertools.islice(itertools.cycle(limits), 40 * LIMIT):
        if len(found) >= LIMIT:
            break
        try:
            block = iterator.block(limit) if limit else None
            if block is None:
                found.append(plain(iterator.next()))
                continue
        except StopIteration:
            break
        except Starved as starved:
            assert grant is not None
            grant(starved)
            continue
        assert 1 <= block.count <= limit
        found.extend(map(plain, block.elements()))
    return found[:LIMIT]


@given(
    st.integers(0, 8),
    st.sets(st.integers(0, 7), max_size=3),
    st.lists(
        st.sampled_from(
            [
                lambda d: d.take(5),
                lambda d: d.filter(lambda *e: first(e) % 5 != 2),
                lambda d: d.shuffle(3, seed=1),
                lambda d: d.repeat(2),
                lambda d: scalars(d).batch(2),
                lambda d: d.prefetch(1),
                lambda d: d.skip(1),
                lambda d: scalars(d).batch(2).unbatch(),
                lambda d: d.interleave(inner, cycle_length=2),
                lambda d: d.filter(lambda *e: first(e) % 5 != 2).map(lambda *e: first(e)),
                lambda d: d.shard(2, 0),
                lambda d: d.flat_map(inner),
                lambda d: scalars(d).padded_batch(2),
                lambda d: scalars(d).batch(2).rebatch(3),
                lambda d: scalars(d).window(3, 2).flat_map(lambda w: w.batch(3)),
                lambda d: scalars(d).group_by_window(lambda x: x % 2, lambda k, g: g, window_size=2),
                lambda d: scalars(d).scan(np.int64(1), lambda s, x: (s + x, s)),
                lambda d: d.take_while(lambda *e: first(e) < 5),
                lambda d: scalars(d).unique(),
                lambda d: d.ignore_errors(),
                lambda d: d.map(lambda *e: first(e) + 1, num_parallel_calls=3),
                lambda d: scalars(d).map(vectorized(lambda x: x + 1)),
            ]
        ),
        max_size=3,
    ),
)
def test_an_element_whose_function_raised_is_all_that_is_missing(count: int, bad: set[int], steps: list[Step]) -> None:
    """What comes out is what would have come if the bad elements had not been in the input."""

    def fragile(x: Any) -> Any:
        if int(x) in bad:
            raise ArithmeticError(int(x))
        return x

    good = Dataset.range(count).filter(lambda x: int(x) not in bad)
    failing = Dataset.range(count).map(fragile)
    for step in steps:
        good, failing = step(good), step(failing)
    expected = rest(whole(good.operator))
    for limit in (0, 1, 3, 100):
        iterator = whole(failing.operator)
        found: list[Any] = []
        while True:
            try:
                block = iterator.block(limit) if limit else None
                found.extend(map(plain, [iterator.next()] if block is None else block.elements()))
            except ArithmeticError:
                continue
            except StopIteration:
                break
        assert found == expected


@given(datasets())
def test_the_spec_fits_every_element_and_the_cardinality_counts_them(dataset: Dataset) -> None:
    elements = []
    iterator = whole(dataset.operator)
    for _ in range(LIMIT):
        try:
            elements.append(iterator.next())
        except StopIteration:
            break
    for element in elements:
        nest.map_structure(check_fits, dataset.element_spec, element)
    count = int(dataset.cardinality())
    if count >= 0:
        assert len(elements) == min(count, LIMIT)


def check_fits(spec: Any, leaf: Any) -> None:
    assert spec.is_compatible_with(leaf), (spec, leaf)


@pytest.mark.parametrize("reshuffle", [True, False])
@given(st.integers(0, 20), st.integers(1, 8), st.integers(0, 3))
@settings(max_examples=20)
def test_a_seeded_shuffle_is_a_function_of_its_seed(reshuffle: bool, count: int, size: int, seed: int) -> None:
    dataset = Dataset.range(count).shuffle(size, seed, reshuffle).repeat(2)
    one = rest(dataset.operator.iterator(Context()))
    assert one == rest(dataset.operator.iterator(Context()))
    assert sorted(one[:count]) == sorted(one[count:]) == list(range(count))
    if not reshuffle:
        assert one[:count] == one[count:]
