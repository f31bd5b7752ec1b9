"""batch and unbatch."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, plain, start
from tfsvc.columns import Columns
from tfsvc.data import UNKNOWN_CARDINALITY, Dataset
from tfsvc.data.operator import Context, OperatorIterator, SourceOperator
from tfsvc.data.stacking import cut, join, to_columns
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import TensorSpec


def test_the_last_batch_may_be_short() -> None:
    dataset = Dataset.range(7).batch(3)
    assert elements(dataset) == [[0, 1, 2], [3, 4, 5], [6]]
    assert dataset.element_spec == TensorSpec((None,), "int64")
    assert len(dataset) == 3


def test_the_last_batch_may_be_left_out() -> None:
    dataset = Dataset.range(7).batch(3, drop_remainder=True)
    assert elements(dataset) == [[0, 1, 2], [3, 4, 5]]
    assert dataset.element_spec == TensorSpec((3,), "int64")
    assert len(dataset) == 2


def test_components_are_stacked_one_by_one() -> None:
    dataset = Dataset.from_tensor_slices({"s": ["a", "b"], "n": [[1], [2]]}).map(lambda e: e).batch(2)
    (batch,) = dataset
    assert plain(batch) == {"s": [b"a", b"b"], "n": [[1], [2]]}
    assert batch["s"].dtype == object


def test_a_batch_of_columns_is_a_reshape() -> None:
    block = start(Dataset.from_tensor_slices(np.arange(8)).batch(2)).block(3)
    assert block is not None
    assert block.count == 3
    assert block.leaves[0].tolist() == [[0, 1], [2, 3], [4, 5]]  # type: ignore[union-attr]
    assert block.leaves[0].base is not None  # type: ignore[union-attr]


def test_a_half_built_batch_survives_a_change_of_ways() -> None:
    dataset = Dataset.range(3).concatenate(Dataset.range(10, 14)).batch(4)
    iterator = start(dataset)
    block = iterator.block(5)
    assert block is not None
    assert list(map(plain, block.elements())) == [[0, 1, 2, 10]]
    assert drain(iterator) == [[11, 12, 13]]


def test_a_failure_does_not_lose_the_rows_before_it() -> None:
    def fragile(x: int) -> int:
        if x == 1:
            raise ArithmeticError
        return x

    assert drain(start(Dataset.range(4).map(fragile).batch(2))) == ["ArithmeticError", [0, 2], [3]]


def test_shapes_and_dtypes_must_agree() -> None:
    ragged = Dataset.range(4).map(lambda x: np.arange(x // 2)).batch(2)
    assert elements(ragged) == [[[], []], [[0], [0]]]
    with pytest.raises(InvalidArgumentError, match=r"First element had shape \[0\] and element 1 had shape \[1\]"):
        list(Dataset.range(2).map(lambda x: np.arange(x)).batch(2))
    with pytest.raises(InvalidArgumentError, match="component 0: int32, int64"):
        list(Dataset.range(2).map(lambda x: x if x else 1).batch(2))
    with pytest.raises(InvalidArgumentError, match="numbers of components"):
        list(Dataset.range(2).map(lambda x: (x, x) if x else (x,)).batch(2))


def test_unbatch_gives_rows() -> None:
    assert elements(Dataset.range(5).batch(2).unbatch()) == [0, 1, 2, 3, 4]
    dataset = Dataset.from_tensors({"a": [1, 2], "b": [["x"], ["y"]]}).unbatch()
    assert elements(dataset) == [{"a": 1, "b": [b"x"]}, {"a": 2, "b": [b"y"]}]
    assert dataset.element_spec == {"a": TensorSpec((), "int32"), "b": TensorSpec((1,), "string")}
    assert len(Dataset.range(7).batch(3, True).unbatch()) == 6
    assert Dataset.range(7).batch(3).unbatch().cardinality() == UNKNOWN_CARDINALITY


def test_what_cannot_be_unbatched() -> None:
    with pytest.raises(ValueError, match="scalar components"):
        Dataset.range(3).unbatch()
    with pytest.raises(ValueError, match="same number of rows"):
        Dataset.from_tensors(([1], [1, 2])).unbatch()
    with pytest.raises(InvalidArgumentError, match="same number of rows"):
        next(iter(Dataset.range(1).map(lambda x: ([1], [1, 2])).unbatch()))
    with pytest.raises(InvalidArgumentError, match="scalar components"):
        next(iter(Dataset.range(1).map(lambda x: x).unbatch()))


class Irregular(SourceOperator):
    """A source whose blocks have rows of different shapes."""

    name = "irregular"

    def cardinality(self) -> int:
        return 4

    def iterator(self, context: Context) -> OperatorIterator:
        return IrregularIterator()

    def _make_examples(self) -> tuple[np.ndarray, ...]:
        return (np.arange(1),)


class IrregularIterator(OperatorIterator):
    def __init__(self) -> None:
        self.rows = [np.arange(n) for n in (1, 1, 2, 2)]

    def next(self) -> np.ndarray:
        if not self.rows:
            raise StopIteration
        return self.rows.pop(0)

    def block(self, limit: int) -> Columns:
        if not self.rows:
            raise StopIteration
        taken, self.rows = self.rows[:limit], self.rows[limit:]
        return to_columns(taken)

    def save(self) -> None:
        return None

    def load(self, state: None) -> None:
        return None


def test_irregular_blocks_are_batched_row_by_row() -> None:
    iterator = start(Dataset(Irregular()).batch(2))
    assert iterator.block(2) is None
    assert iterator.block(2) is None
    assert plain(iterator.next()) == [[0], [0]]
    assert drain(iterator) == [[[0, 1], [0, 1]]]


def test_columns_are_joined_and_cut() -> None:
    joined = join([to_columns([(np.int64(1), b"a"), (np.int64(2), b"b")]), to_columns([(np.int64(3), b"c")])])
    assert [(int(i), text) for i, text in cut(joined, 1, 3).elements()] == [(2, b"b"), (3, b"c")]
    uneven = join([to_columns([np.arange(1)]), to_columns([np.arange(2)])])
    assert [plain(row) for row in uneven.elements()] == [[0], [0, 1]]


def test_elements_without_components_are_counted() -> None:
    assert list(Columns({}, (), 3).elements(1)) == [{}, {}]
