"""Generator functions in ``flat_map`` and ``interleave``: each call is a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data import Dataset
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import TensorSpec


def countdown(n: Any) -> Iterator[Any]:
    """``n`` values; a buffer is filled again and again, which elements must not notice."""
    buffer = np.zeros(2, np.float32)
    for i in range(n):
        buffer[:] = n, i
        yield i, buffer


EXPECTED = [(i, [float(n), float(i)]) for n in range(4) for i in range(n)]


def test_the_values_of_each_call_one_after_the_other() -> None:
    dataset = Dataset.range(4).flat_map(countdown)
    assert elements(dataset) == EXPECTED
    assert sorted(elements(Dataset.range(4).interleave(countdown, cycle_length=2))) == sorted(EXPECTED)
    for cut in range(7):
        iterator = iter(dataset)
        for _ in range(cut):
            next(iterator)
        again = iter(dataset)
        again.load_state_dict(iterator.state_dict())
        assert len(list(again)) == 6 - cut


def test_the_spec_is_that_of_the_first_values() -> None:
    dataset = Dataset.range(1, 4).flat_map(countdown)
    assert dataset.element_spec == (TensorSpec((), "int32"), TensorSpec((2,), "float32"))
    assert elements(dataset.batch(2).take(1)) == [([0, 0], [[1.0, 0.0], [2.0, 0.0]])]
    with pytest.raises(InvalidArgumentError, match=r"countdown.* yields nothing"):
        Dataset.from_tensors(0).flat_map(countdown).element_spec  # noqa: B018


def test_an_error_in_it_is_told_once() -> None:
    def fail(n: Any) -> Iterator[Any]:
        yield n
        raise ValueError("no more")

    assert drain(start(Dataset.range(2).flat_map(fail))) == [0, "ValueError", 1, "ValueError"]
