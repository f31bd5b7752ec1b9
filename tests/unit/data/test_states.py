"""Operators that remember: scan, take_while, unique; and what reads a dataset at once."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data import UNKNOWN_CARDINALITY, Dataset
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import TensorSpec


def fragile(x: int) -> int:
    if x == 1:
        raise ArithmeticError
    return x


def test_a_scan_hands_its_state_on() -> None:
    dataset = Dataset.range(4).scan(np.int64(10), lambda total, x: (total + x, (total, x)))
    assert elements(dataset) == [(10, 0), (10, 1), (11, 2), (13, 3)]
    assert dataset.element_spec == (TensorSpec((), "int64"), TensorSpec((), "int64"))
    assert len(dataset) == 4


def test_a_scan_that_fails_keeps_its_state() -> None:
    dataset = Dataset.range(4).scan(np.int64(0), lambda total, x: (total + fragile(x), total))
    assert drain(start(dataset)) == [0, "ArithmeticError", 0, 2]


def test_a_state_keeps_its_form() -> None:
    with pytest.raises(TypeError, match="pair"):
        list(Dataset.range(2).scan(0, lambda total, x: total))
    with pytest.raises(TypeError, match="element types"):
        list(Dataset.range(2).scan(0, lambda total, x: (1.5, x)))
    with pytest.raises(TypeError, match="structure"):
        Dataset.range(2).reduce(0, lambda total, x: (total, total))


def test_take_while_ends_for_good() -> None:
    iterator = start(Dataset.from_tensor_slices([1, 2, 9, 3]).take_while(lambda x: x < 5))
    assert drain(iterator) == [1, 2]
    assert drain(iterator) == []


def test_unique_looks_at_values() -> None:
    assert elements(Dataset.from_tensor_slices(["b", "a", "b"]).unique()) == [b"b", b"a"]
    assert elements(Dataset.from_tensor_slices([["a"], ["b"], ["a"]]).unique()) == [[b"a"], [b"b"]]
    assert Dataset.range(3).unique().cardinality() == UNKNOWN_CARDINALITY
    with pytest.raises(TypeError, match="does not support type"):
        Dataset.from_tensor_slices([1.5]).unique()


def test_errors_are_ignored_or_logged(caplog: pytest.LogCaptureFixture) -> None:
    dataset = Dataset.range(3).map(fragile)
    assert elements(dataset.ignore_errors()) == [0, 2]
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        assert elements(dataset.ignore_errors(log_warning=True)) == [0, 2]
    assert len(caplog.records) == 1


def test_reduce_and_the_single_element() -> None:
    assert Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x) == 10
    assert Dataset.range(3).enumerate().reduce(np.int64(0), lambda total, pair: total + pair[0] * pair[1]) == 5
    assert Dataset.range(7, 8).get_single_element() == 7
    with pytest.raises(InvalidArgumentError, match="was empty"):
        Dataset.range(0).get_single_element()
    with pytest.raises(InvalidArgumentError, match="more than one"):
        Dataset.range(2).get_single_element()


def test_what_is_known_is_checked_at_once() -> None:
    with pytest.raises(TypeError, match="Incompatible"):
        Dataset.range(2).concatenate(Dataset.from_tensors("a"))
    late = Dataset.range(2).concatenate(Dataset.range(2).map(str))
    with pytest.raises(TypeError, match="Incompatible"):
        _ = late.element_spec
