"""Functions that do not fit their operator are found when the graph is built, without calling more than must be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import elements
from tfsvc.data import Dataset
from tfsvc.data.arguments import whole
from tfsvc.data.trying import try_functions


class Recording:
    """A function that keeps what it was called with."""

    def __init__(self, result: Any) -> None:
        self.result = result
        self.calls: list[Any] = []

    def __call__(self, x: Any) -> Any:
        self.calls.append(x)
        return self.result


def test_a_predicate_is_tried_with_one_example() -> None:
    predicate = Recording(np.True_)
    Dataset.range(5, 9).filter(predicate)
    assert predicate.calls == [5]
    with pytest.raises(ValueError, match="bool"):
        Dataset.range(3).filter(Recording(1))


def test_a_function_of_map_is_not_called() -> None:
    function = Recording(1)
    Dataset.range(3).map(function).batch(2).shuffle(3)
    assert function.calls == []


@pytest.mark.parametrize("parallel", [None, 2])
def test_a_function_of_map_must_take_the_components(parallel: int | None) -> None:
    pairs = Dataset.from_tensors((1, 2))
    with pytest.raises(TypeError, match=r"<lambda>.*takes \(x\), but the elements have 2 component"):
        pairs.map(lambda x: x, parallel)
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        Dataset.range(3).map(lambda x, y: x, parallel)
    assert elements(pairs.map(lambda *xs: xs[0], parallel)) == [1]
    assert elements(pairs.map(max, parallel)) == [2]


def test_nothing_is_tried_where_other_code_of_the_user_would_run() -> None:
    started = Recording([1])
    generated = Dataset.from_generator(lambda: started(0), output_types="int64")
    generated.filter(Recording(5))
    Dataset.range(3).map(started).filter(Recording(5))
    Dataset.from_source([1, 2]).filter(Recording(5))
    assert started.calls == []


def test_what_a_function_itself_raises_says_nothing() -> None:
    def only_on_workers(x: Any) -> Any:
        raise TypeError

    Dataset.range(3).filter(only_on_workers)
    Dataset.range(3).flat_map(only_on_workers)
    Dataset.range(3).group_by_window(only_on_workers, only_on_workers, 2)
    try_functions(Dataset.range(3).map(only_on_workers).filter(only_on_workers).operator, deep=True)


def test_before_a_dataset_is_shipped_all_its_functions_are_tried() -> None:
    for wrong in (
        Dataset.range(3).map(lambda x: x).filter(lambda x: x).batch(2),
        Dataset.range(3).map(lambda x: (x, x)).map(lambda x: x),
        Dataset.range(3).map(lambda x: x).flat_map(lambda x: x).map(lambda x: x),
        Dataset.range(3).map(lambda x: x).scan(0, lambda state, x: state),
    ):
        with pytest.raises((ValueError, TypeError)):
            try_functions(wrong.operator, deep=True)


def test_whole_numbers_are_not_rounded() -> None:
    assert whole("n", np.array(3)) == whole("n", np.int8(3)) == 3
    for dataset in (Dataset.range, Dataset.range(5).batch, Dataset.range(5).take, Dataset.range(5).repeat):
        with pytest.raises(TypeError, match=r"must be a whole number, but got 1\.5"):
            dataset(1.5)
