"""padded_batch, ragged_batch and rebatch."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data import Dataset
from tfsvc.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tfsvc.specs import TensorSpec


def rows() -> Dataset:
    return Dataset.range(1, 4).map(lambda n: np.full(n, n))


def test_rows_are_padded_to_the_longest_of_their_batch() -> None:
    dataset = rows().padded_batch(2)
    assert elements(dataset) == [[[1, 0], [2, 2]], [[3, 3, 3]]]
    assert dataset.element_spec == TensorSpec((None, None), "int64")
    assert len(dataset) == 2


def test_shapes_and_values_are_chosen_for_each_component() -> None:
    dataset = Dataset.from_tensors({"a": [1], "b": "x"}).padded_batch(
        1, {"a": [3], "b": []}, {"a": 7, "b": None}, drop_remainder=True
    )
    assert elements(dataset) == [{"a": [[1, 7, 7]], "b": [b"x"]}]
    assert dataset.element_spec == {"a": TensorSpec((1, 3), "int32"), "b": TensorSpec((1,), "string")}


def test_what_cannot_be_padded() -> None:
    with pytest.raises(DataLossError, match="smaller size"):
        list(rows().padded_batch(3, [2]))
    with pytest.raises(InvalidArgumentError, match="same rank"):
        list(rows().padded_batch(3, [2, 2]))
    with pytest.raises(ValueError, match="should be scalars"):
        Dataset.from_tensors([1]).padded_batch(1, padding_values=np.array([1]))
    with pytest.raises(TypeError, match="does not match type"):
        Dataset.from_tensors([1]).padded_batch(1, padding_values="x")


def test_ragged_batches_are_refused_with_the_ways_out() -> None:
    with pytest.raises(UnimplementedError, match="Use padded_batch"):
        rows().ragged_batch(2)


def test_batches_are_cut_anew() -> None:
    dataset = Dataset.range(7).batch(3).rebatch(2)
    assert elements(dataset) == [[0, 1], [2, 3], [4, 5], [6]]
    assert elements(Dataset.range(7).batch(3).rebatch([1, 3])) == [[0], [1, 2, 3], [4], [5, 6]]
    assert elements(Dataset.range(7).batch(3).rebatch(5, drop_remainder=True)) == [[0, 1, 2, 3, 4]]
    assert Dataset.range(8).batch(4, True).rebatch(2).element_spec == TensorSpec((2,), "int64")


def test_rows_that_differ_in_number_matter_where_the_size_depends_on_it() -> None:
    unlike = Dataset.from_tensors(([1, 2], [1, 2, 3]))
    assert elements(unlike.skip(1).rebatch([1, 2])) == []
    with pytest.raises(ValueError, match=r"same number of rows, but have \[2, 3\]"):
        unlike.rebatch(1)
    for dataset in (unlike.rebatch([1, 2]), unlike.rebatch(1, drop_remainder=True)):
        with pytest.raises(InvalidArgumentError, match="they have 2, 3"):
            next(iter(dataset))


def test_what_cannot_be_rebatched() -> None:
    with pytest.raises(InvalidArgumentError, match="greater than zero"):
        Dataset.range(3).batch(2).rebatch([2, 0])
    with pytest.raises(ValueError, match="scalar components"):
        _ = Dataset.range(3).rebatch(2).element_spec
    with pytest.raises(FailedPreconditionError, match="differ in shape"):
        list(Dataset.range(2).map(lambda x: np.zeros((1, int(x) + 1))).rebatch(2))


def test_rows_that_are_over_are_saved() -> None:
    dataset = Dataset.range(7).batch(3).rebatch(2)
    iterator = start(dataset)
    iterator.next()
    restored = start(dataset)
    restored.load(iterator.save())
    assert drain(restored) == drain(iterator) == [[2, 3], [4, 5], [6]]
