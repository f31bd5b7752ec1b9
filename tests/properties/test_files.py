"""Every reader of files keeps the promises of the operator contract, at every place."""

from __future__ import annotations

import pytest

from tests.properties.files import datasets_of_files
from tests.properties.test_datasets import Worker, mixed, rest, whole
from tfsvc.data import Dataset


@pytest.fixture(params=range(len(datasets_of_files())))
def dataset(request: pytest.FixtureRequest) -> Dataset:
    return datasets_of_files()[request.param]


def test_it_goes_on_from_every_element(dataset: Dataset) -> None:
    expected = rest(whole(dataset.operator))
    assert expected
    for taken in range(len(expected) + 1):
        for limits in ([0], [2], [5], [3, 0]):
            iterator, restored = whole(dataset.operator), whole(dataset.operator)
            first = mixed(iterator, limits) if taken == len(expected) else rest(iterator, taken)
            restored.load(iterator.save())
            assert first + mixed(restored, limits) == expected


def test_splits_make_the_whole(dataset: Dataset) -> None:
    expected = rest(whole(dataset.operator))
    assert sorted(Worker(dataset.operator).rest()) == sorted(expected)
    for taken in range(len(expected)):
        worker = Worker(dataset.operator)
        first = worker.rest(taken)
        again = Worker(dataset.operator, tuple(feed.at for feed in worker.feeds))
        again.iterator.load(worker.iterator.save())
        assert first + again.rest() == Worker(dataset.operator).rest()
