"""choose_from_datasets, sample_from_datasets, random, counter and options."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc import data
from tfsvc.data import INFINITE_CARDINALITY, Dataset, Options, ThreadingOptions
from tfsvc.errors import InvalidArgumentError
from tfsvc.protocol.splits import Lease, Span, SplitFeed, SplitPlan
from tfsvc.specs import TensorSpec


def choices(*numbers: int) -> Dataset:
    return Dataset.from_tensor_slices(np.array(numbers))


def test_a_dataset_says_which_comes_next() -> None:
    inputs = [Dataset.range(2), Dataset.range(10, 20)]
    assert elements(Dataset.choose_from_datasets(inputs, choices(1, 0, 1, 0, 0, 1))) == [10, 0, 11, 1]
    assert elements(Dataset.choose_from_datasets(inputs, choices(1, 0, 1, 0, 0, 1), False)) == [10, 0, 11, 1, 12]
    with pytest.raises(InvalidArgumentError, match="out of range: 2 >= 2"):
        list(Dataset.choose_from_datasets(inputs, choices(2)))


def test_each_worker_chooses_for_itself() -> None:
    dataset = Dataset.choose_from_datasets([Dataset.range(3), Dataset.range(10, 13)], choices(0, 1, 1))
    assert dataset.operator.plans() == (SplitPlan(3), SplitPlan(3, 10))
    feeds = SplitFeed(0), SplitFeed(1)
    feeds[0].add(Lease(0, feeds[0].at, (Span(2, 3),), ended=True))
    feeds[1].add(Lease(1, feeds[1].at, (Span(0, 2),), ended=True))
    assert drain(start(dataset, *feeds)) == [2, 10, 11]


def test_weights_say_how_often() -> None:
    inputs = [Dataset.from_tensors(n).repeat() for n in range(3)]
    found = Counter(elements(Dataset.sample_from_datasets(inputs, [0.0, 0.9, 0.1], seed=1), 2000))
    assert found.keys() == {1, 2}
    assert 1700 < found[1] < 1900
    changing = Dataset.from_tensor_slices([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).repeat()
    assert elements(Dataset.sample_from_datasets(inputs, changing), 4) == [0, 2, 0, 2]


def test_samples_go_on_until_all_have_ended_unless_told() -> None:
    inputs = [Dataset.range(3), Dataset.range(10, 12)]
    assert sorted(elements(Dataset.sample_from_datasets(inputs))) == [0, 1, 2, 10, 11]
    beside = [Dataset.range(3), Dataset.counter(10)]
    stopped = elements(Dataset.sample_from_datasets(beside, seed=3, stop_on_empty_dataset=True))
    assert {0, 1, 2} <= set(stopped)
    assert len(stopped) < 50


@pytest.mark.parametrize("initial", [None, [0.9, 0.1]])
def test_classes_come_as_often_as_wished(initial: Any) -> None:
    dataset = Dataset.range(5000).rejection_resample(lambda x: np.int32(x % 10 == 0), [0.25, 0.75], initial, seed=1)
    assert dataset.element_spec == (TensorSpec((), "int32"), TensorSpec((), "int64"))
    found = elements(dataset, 5000)
    assert all(label == (x % 10 == 0) for label, x in found)
    assert 0.7 < np.mean([label for label, _ in found]) < 0.8


def test_random_numbers_are_a_function_of_seed_and_place() -> None:
    dataset = Dataset.random(seed=1)
    assert elements(dataset, 3) == [2870909127, 3455438759, 4052121393]
    assert elements(dataset.take(2).repeat(2)) == [2870909127, 3455438759] * 2
    changing = elements(Dataset.random(seed=1, rerandomize_each_iteration=True).take(2).repeat(2))
    assert changing[:2] != changing[2:]
    assert elements(Dataset.random(), 3) != elements(Dataset.random(), 3)
    block = start(dataset.skip(1)).block(2)
    assert block is not None
    assert [int(number) for number in block.elements()] == [3455438759, 4052121393]
    assert dataset.cardinality() == INFINITE_CARDINALITY


def test_counters_count() -> None:
    assert elements(Dataset.counter(5, -2), 3) == [5, 3, 1]
    assert elements(Dataset.counter(0.5, 0.25, np.float32), 3) == [0.5, 0.75, 1.0]
    assert data.experimental.Counter is not None
    assert Dataset.counter().operator.plans() == (SplitPlan(None),)


def test_options_are_data() -> None:
    options = Options(deterministic=False)
    options.threading.private_threadpool_size = 4
    options.experimental_distribute.auto_shard_policy = data.experimental.AutoShardPolicy.OFF
    dataset = Dataset.range(3).with_options(options).batch(2)
    assert dataset.options() == options
    options.deterministic = True
    assert dataset.options().deterministic is False
    assert dataset.with_options(Options(deterministic=True)).options().deterministic is True
    assert Dataset.range(3).options() == Options()


def test_options_that_are_none() -> None:
    broken: Any = Options()
    with pytest.raises(AttributeError):
        broken.determinstic = True
    with pytest.raises(TypeError, match="incompatible options"):
        Dataset.range(3).with_options(ThreadingOptions())  # type: ignore[arg-type]


def test_what_varies_in_one_of_several_datasets_varies_in_all_of_them() -> None:
    varying = Dataset.range(4).map(lambda x: np.arange(x % 3 + 1))
    fixed = Dataset.range(3).map(lambda x: np.arange(1))
    both = [
        varying.concatenate(fixed),
        fixed.concatenate(varying),
        Dataset.choose_from_datasets([varying, fixed], Dataset.range(2)),
    ]
    for dataset in both:
        assert dataset.map(lambda x: x).element_spec == TensorSpec((None,), "int64")
