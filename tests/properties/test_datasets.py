"""Random compositions of operators keep the promises of the operator contract."""

from __future__ import annotations

import contextlib
import itertools
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, reject, settings
from hypothesis import strategies as st

import tfsvc
from tests.pipelines.drawing import pipelines
from tests.pipelines.elements import plain
from tfsvc import nest
from tfsvc.data import Dataset
from tfsvc.data.experimental import in_processes, vectorized
from tfsvc.data.operator import UNKNOWN, Context, Operator, OperatorIterator
from tfsvc.data.ops import prefetch
from tfsvc.errors import OpError
from tfsvc.protocol.splits import Lease, Span, SplitFeed, SplitPosition, Starved

pytestmark = pytest.mark.filterwarnings("ignore")

SEED = 7
LIMIT = 60
"""Elements that are read at most, since some of the datasets are endless."""

CUTS = 16
"""Elements behind each of which a state is saved."""

Step = Callable[[Dataset], Dataset]


@pytest.fixture(autouse=True, scope="module")
def _threads() -> Iterator[None]:
    """``prefetch`` has its thread from the first element on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefetch, "SLOW_MAX", 0)
        yield


@st.composite
def datasets(draw: st.DrawFn, sizes_by_value: bool = True) -> Dataset:
    """The datasets that are compared with TensorFlow's as well, those with luck, and some without end.

    ``sizes_by_value`` lets sizes depend on numbers, which a spec cannot see where two examples agree by chance.
    """
    pipeline = draw(pipelines(own=True))
    assume(sizes_by_value or "f.fill" not in pipeline.code)
    try:
        dataset = pipeline.build(tfsvc)
    except Exception:
        reject()
    if draw(st.sampled_from([False, False, False, True])):
        # An empty pass ends the whole dataset but not one under splits, so no pass may be empty.
        full = dataset.map(lambda *e: np.int64(0)).concatenate(Dataset.range(1))
        return full.repeat().batch(draw(st.integers(1, 3)))
    return dataset


def first(element: Any) -> Any:
    """A number of any element, so that functions may stand anywhere in a chain."""
    while isinstance(element, tuple):
        element = element[0]
    return np.ravel(element)[0] if np.size(element) else np.int64(0)


def scalars(dataset: Dataset) -> Dataset:
    return dataset.map(lambda *e: first(e))


def inner(*element: Any) -> Dataset:
    return Dataset.range(int(first(element)) % 3).shuffle(2)


def events(next: Callable[[], Any], limit: int = LIMIT) -> list[Any]:
    """Elements, and the names of errors in their place."""
    found: list[Any] = []
    while len(found) < limit:
        try:
            found.append(plain(next()))
        except StopIteration:
            break
        except Starved:
            raise
        except Exception as error:
            found.append(type(error).__name__)
    return found


def rest(iterator: OperatorIterator, limit: int = LIMIT) -> list[Any]:
    return events(iterator.next, limit)


def whole(operator: Operator) -> OperatorIterator:
    return operator.iterator(Context(seed=SEED, ahead=True))


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
                return self.iterator.next()
            except Starved as starved:
                self.grant(starved)
        raise StopIteration

    def rest(self, limit: int = LIMIT) -> list[Any]:
        return events(self.next, limit)


@given(datasets())
def test_an_iterator_restored_at_any_cut_gives_the_same_rest(dataset: Dataset) -> None:
    expected = rest(whole(dataset.operator), CUTS)
    saved = whole(dataset.operator)
    for cut in range(len(expected) + 1):
        state = pickle.dumps(saved.save())
        restored = whole(dataset.operator)
        restored.load(pickle.loads(state))
        assert rest(restored, CUTS - cut) == expected[cut:]
        rest(saved, 1)


@given(datasets(), st.lists(st.integers(0, 7), min_size=1, max_size=4), st.integers(0, 8))
def test_a_state_saved_between_blocks_goes_on_from_there(dataset: Dataset, limits: list[int], steps: int) -> None:
    saved = whole(dataset.operator)
    for limit in itertools.islice(itertools.cycle(limits), steps):
        # A pipeline may raise, for a batch of unlike shapes say, and goes on behind that.
        with contextlib.suppress(StopIteration, OpError):
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


@given(datasets())
def test_a_worker_restored_at_any_cut_goes_on_from_the_positions_of_its_splits(dataset: Dataset) -> None:
    """Also where the state is saved while it waits for a split."""
    expected = Worker(dataset.operator).rest(CUTS)
    worker = Worker(dataset.operator)
    cut = 0
    for _ in range(4 * CUTS):
        state = pickle.dumps(worker.iterator.save())
        again = Worker(dataset.operator, tuple(feed.at for feed in worker.feeds))
        again.iterator.load(pickle.loads(state))
        assert again.rest(CUTS - cut) == expected[cut:]
        try:
            events(worker.iterator.next, 1)
        except Starved as starved:
            worker.grant(starved)
        else:
            cut += 1
        if cut > len(expected):
            break


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
        except Exception:
            given += 1
    return [count for count in found if count < LIMIT]


def mixed(iterator: OperatorIterator, limits: list[int], grant: Callable[[Starved], None] | None = None) -> list[Any]:
    """Elements by ``next`` where the limit is 0, else by ``block``."""
    found: list[Any] = []
    # A dataset that rejects most of what it reads asks for many splits, of which each turn gives one.
    for limit in itertools.islice(itertools.cycle(limits), 200 * LIMIT):
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
        except Exception as error:
            found.append(type(error).__name__)
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
                lambda d: d.interleave(inner, 2, 2, num_parallel_calls=2),
                lambda d: d.map(in_processes(lambda *e: first(e) + 1), 2),
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


@given(datasets(sizes_by_value=False))
def test_the_spec_fits_every_element_and_the_cardinality_counts_them(dataset: Dataset) -> None:
    try:
        spec, count = dataset.element_spec, int(dataset.cardinality())
    except Exception:
        # A function that fails for examples hides what the elements are.
        reject()
    iterator = whole(dataset.operator)
    given = 0
    for _ in range(LIMIT):
        try:
            element = iterator.next()
        except StopIteration:
            break
        except Exception:
            count = UNKNOWN
        else:
            nest.map_structure(check_fits, spec, element)
            given += 1
    if count >= 0:
        assert given == min(count, LIMIT)


def check_fits(spec: Any, leaf: Any) -> None:
    assert spec.is_compatible_with(leaf), (spec, leaf)


@pytest.mark.parametrize("reshuffle", [True, False])
@given(st.integers(0, 20), st.integers(1, 8), st.integers(0, 3))
@settings(max_examples=20)
def test_a_seeded_shuffle_is_a_function_of_its_seed(reshuffle: bool, count: int, size: int, seed: int) -> None:
    dataset = Dataset.range(count).shuffle(size, seed, reshuffle).repeat(2)
    one = rest(dataset.operator.iterator(Context()))
    assert one == rest(dataset.operator.iterator(Context()))
    assert sorted(one[:count]) == sorted(one[count:]) == sorted(plain(np.int64(i)) for i in range(count))
    if not reshuffle:
        assert one[:count] == one[count:]
