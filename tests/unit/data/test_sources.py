"""Where elements come from: range, tensors, slices, generators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data import UNKNOWN_CARDINALITY, Dataset
from tfsvc.errors import InvalidArgumentError
from tfsvc.protocol.splits import SplitPlan
from tfsvc.specs import TensorSpec


@pytest.mark.parametrize(
    ("args", "expected"),
    [((3,), [0, 1, 2]), ((2, 5), [2, 3, 4]), ((10, 1, -3), [10, 7, 4]), ((5, 1), []), ((1, 6, 2), [1, 3, 5])],
)
def test_range(args: tuple[int, ...], expected: list[int]) -> None:
    dataset = Dataset.range(*args)
    assert elements(dataset) == expected
    assert len(dataset) == len(expected)
    assert all(type(element) is np.int64 for element in dataset)


def test_range_tells_the_dispatcher_its_numbers() -> None:
    (plan,) = Dataset.range(10, 1, -3).operator.plans()
    assert plan == SplitPlan(3, 10, -3)
    assert [plan.value(i) for i in range(3)] == [10, 7, 4]


def test_range_in_blocks() -> None:
    iterator = start(Dataset.range(10, 1, -3, output_type="int32"))
    block = iterator.block(2)
    assert block is not None
    assert block.leaves[0].tolist() == [10, 7]  # type: ignore[union-attr]
    assert drain(iterator) == [4]


def test_slices_take_rows_of_every_component() -> None:
    dataset = Dataset.from_tensor_slices({"x": ["a", "b"], "y": [[1, 2], [3, 4]]})
    assert elements(dataset) == [{"x": b"a", "y": [1, 2]}, {"x": b"b", "y": [3, 4]}]
    assert dataset.element_spec == {"x": TensorSpec((), "string"), "y": TensorSpec((2,), "int32")}
    assert dataset.operator.plans() == (SplitPlan(2),)


def test_rows_cannot_be_written_to() -> None:
    source = np.zeros((2, 2))
    row = next(iter(Dataset.from_tensor_slices(source)))
    with pytest.raises(ValueError, match="read-only"):
        row[0] = 1
    source[0, 0] = 1


@pytest.mark.parametrize("value", [1, (1, 2), ([1], [1, 2]), ()])
def test_what_cannot_be_sliced(value: Any) -> None:
    with pytest.raises(ValueError):
        Dataset.from_tensor_slices(value)


def test_from_tensors_is_one_element() -> None:
    dataset = Dataset.from_tensors((1, [2.0, 3.0]))
    assert elements(dataset) == [(1, [2.0, 3.0])]
    assert dataset.operator.plans() == (SplitPlan(1),)
    assert dataset.element_spec == (TensorSpec((), "int32"), TensorSpec((2,), "float32"))


def test_a_generator_gives_the_types_of_its_signature() -> None:
    dataset = Dataset.from_generator(
        lambda n: ((i, ["x"] * i) for i in range(n)),
        args=(3,),
        output_signature=(TensorSpec((), "uint8"), TensorSpec((None,), "string")),
    )
    assert elements(dataset) == [(0, []), (1, [b"x"]), (2, [b"x", b"x"])]
    assert type(next(iter(dataset))[0]) is np.uint8
    assert dataset.cardinality() == UNKNOWN_CARDINALITY
    assert dataset.operator.plans() == (SplitPlan(1),)


def test_a_value_that_does_not_fit_is_left_out() -> None:
    dataset = Dataset.from_generator(lambda: [1, "a", [1, 2], 3], output_signature=TensorSpec((), "int64"))
    assert drain(start(dataset)) == [1, "InvalidArgumentError", "InvalidArgumentError", 3]


def test_types_and_shapes_are_another_way_to_give_a_signature() -> None:
    dataset = Dataset.from_generator(
        list, output_types={"a": "int64", "b": "string"}, output_shapes={"a": (), "b": (None,)}
    )
    assert dataset.element_spec == {"a": TensorSpec((), "int64"), "b": TensorSpec((None,), "string")}
    assert Dataset.from_generator(list, output_types="int64").element_spec == TensorSpec(None, "int64")


class Stubborn:
    """An iterator that fails at 1 and can go on."""

    def __init__(self) -> None:
        self.number = -1

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        self.number += 1
        if self.number == 1:
            raise OSError
        if self.number > 3:
            raise StopIteration
        return self.number


def test_a_restored_generator_runs_again_and_drops_what_was_given() -> None:
    dataset = Dataset.from_generator(Stubborn, output_signature=TensorSpec((), "int64"))
    iterator = start(dataset)
    assert iterator.next() == 0
    with pytest.raises(OSError):
        iterator.next()
    restored = start(dataset)
    restored.load(iterator.save())
    assert drain(restored) == drain(iterator) == [2, 3]


def test_wrong_arguments_of_generators() -> None:
    with pytest.raises(TypeError, match="must be a Python callable"):
        Dataset.from_generator([1], output_types="int64")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="output_signature"):
        Dataset.from_generator(lambda: [1])


def test_wrong_arguments_of_ranges() -> None:
    with pytest.raises(InvalidArgumentError, match="non-zero"):
        Dataset.range(1, 5, 0)
    with pytest.raises(ValueError, match="between 1 and 3"):
        Dataset.range()
