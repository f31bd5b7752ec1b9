"""Operators that call user functions: map, filter, flat_map, interleave."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data import Dataset
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import TensorSpec

Point = namedtuple("Point", "x y")


def fails_at(*bad: int) -> Any:
    def function(x: Any) -> Any:
        if x in bad:
            raise KeyError(int(x))
        return x

    return function


def test_map_takes_tuples_apart_and_leaves_dicts_whole() -> None:
    assert elements(Dataset.from_tensors((1, (2, 3))).map(lambda a, b: a + b[1])) == [4]
    assert elements(Dataset.from_tensors({"a": 1}).map(lambda e: e["a"])) == [1]
    assert elements(Dataset.from_tensors(Point(1, 2)).map(lambda p: p.y)) == [2]


def test_a_list_is_a_tuple_at_the_top_and_an_array_below() -> None:
    assert elements(Dataset.range(2).map(lambda x: [x, [x, x]])) == [(0, [0, 0]), (1, [1, 1])]


def test_map_makes_leaves_of_python_values() -> None:
    (element,) = Dataset.range(1).map(lambda x: (int(x), 1.5, "a", True))
    assert [type(leaf) for leaf in element] == [np.int32, np.float32, bytes, np.bool_]


def test_a_failed_element_is_left_out() -> None:
    assert drain(start(Dataset.range(4).map(fails_at(0, 2)))) == ["KeyError", 1, "KeyError", 3]
    assert drain(start(Dataset.range(4).filter(lambda x: fails_at(1)(x) > 0))) == ["KeyError", 2, 3]
    assert drain(start(Dataset.range(3).flat_map(lambda x: Dataset.from_tensors(fails_at(1)(x))))) == [0, "KeyError", 2]


def test_a_failure_inside_an_inner_dataset_costs_one_element_of_it() -> None:
    inner = Dataset.range(3).map(fails_at(1))
    assert drain(start(Dataset.range(2).flat_map(lambda x: inner))) == [0, "KeyError", 2, 0, "KeyError", 2]
    interleaved = Dataset.range(2).interleave(lambda x: inner, cycle_length=2)
    assert drain(start(interleaved)) == [0, 0, "KeyError", 2, "KeyError", 2]


def test_a_function_cannot_end_the_data_by_stop_iteration() -> None:
    dataset = Dataset.range(2).map(lambda x: next(iter([])))
    with pytest.raises(InvalidArgumentError, match=r"'<lambda>' \(test_functions.py:\d+\) raised StopIteration"):
        start(dataset).next()


def test_stop_iteration_in_the_middle_of_a_block_is_told_in_its_place_with_its_cause() -> None:
    iterator = iter(Dataset.range(100).map(lambda x: next(iter([x] if x != 70 else []))))
    assert [next(iterator) for _ in range(70)] == list(range(70))
    with pytest.raises(InvalidArgumentError, match="raised StopIteration") as told:
        next(iterator)
    assert isinstance(told.value.__cause__, StopIteration)
    assert "was called with np.int64(70)" in told.value.__notes__[0]
    assert list(iterator) == list(range(71, 100))


def test_the_spec_of_a_function_is_probed_with_two_examples() -> None:
    assert Dataset.range(5).map(lambda x: np.arange(x)).element_spec == TensorSpec((None,), "int64")
    assert Dataset.range(5).batch(2).map(lambda x: x * 0.5).element_spec == TensorSpec((None,), "float64")
    assert Dataset.range(5).batch(1).map(lambda x: x).element_spec == TensorSpec((None,), "int64")
    assert Dataset.range(5).padded_batch(1).map(lambda x: x).element_spec == TensorSpec((None,), "int64")
    assert Dataset.range(4).batch(2, True).map(lambda x: x).element_spec == TensorSpec((2,), "int64")
    assert Dataset.range(3).map(lambda x: np.zeros((2, 3))).element_spec == TensorSpec((2, 3), "float64")


def test_a_spec_is_probed_once_and_only_when_asked_for() -> None:
    calls = []
    dataset = Dataset.range(5).map(lambda x: calls.append(x) or x)
    assert not calls
    assert dataset.element_spec == dataset.map(lambda x: x).element_spec == TensorSpec((), "int64")
    assert calls == [0, 1]


def test_a_failed_probe_says_so() -> None:
    with pytest.raises(KeyError) as caught:
        _ = Dataset.range(3).map(lambda x: {}[x]).batch(2).element_spec
    (note,) = caught.value.__notes__
    assert note.startswith(f"In map() at {__file__}:")
    assert note.endswith(", for an example element, by which element_spec is found.")


def test_an_example_that_fails_tells_nothing() -> None:
    assert Dataset.range(3).map(fails_at(0)).batch(2).element_spec == TensorSpec((None,), "int64")


def test_an_open_dimension_of_a_signature_stays_open_behind_functions() -> None:
    ragged = Dataset.from_generator(lambda: [[1], [2, 3]], output_signature=TensorSpec((None,), "int64"))
    nothing = Dataset.from_generator(list, output_signature=TensorSpec((None,), "int64"))
    for dataset in (ragged, ragged.take(5), ragged.filter(lambda row: True), nothing):
        assert dataset.map(lambda row: row * 2).element_spec == TensorSpec((None,), "int64")
        assert dataset.map(lambda row: row[:1]).element_spec == TensorSpec((1,), "int64")
    empty = Dataset.from_generator(lambda: [np.zeros((0, 2), "U1")], output_signature=TensorSpec((None, 2), "string"))
    assert empty.map(lambda row: row).element_spec == TensorSpec((None, 2), "string")
    grids = Dataset.from_generator(lambda: [[[1]]], output_signature=TensorSpec((None, None), "int64"))
    assert grids.unbatch().map(lambda row: row).element_spec == TensorSpec((None,), "int64")
    assert ragged.flat_map(Dataset.from_tensors).map(lambda row: row).element_spec == TensorSpec((None,), "int64")


def test_a_predicate_must_give_a_bool() -> None:
    with pytest.raises(ValueError, match=r"must return a `tf.bool` scalar"):
        list(Dataset.range(3).filter(lambda x: x))
    with pytest.raises(ValueError, match=r"must return a `tf.bool` scalar"):
        list(Dataset.range(3).filter(lambda x: (x > 1, True)))


def test_flat_map_must_be_given_datasets() -> None:
    with pytest.raises(TypeError, match="must return a `Dataset` object"):
        list(Dataset.range(3).flat_map(lambda x: x))


def test_interleave_takes_blocks_in_turns() -> None:
    dataset = Dataset.range(1, 4).interleave(
        lambda x: Dataset.from_tensors(x).repeat(3), cycle_length=2, block_length=2
    )
    assert elements(dataset) == [1, 1, 2, 2, 1, 2, 3, 3, 3]


def test_inner_datasets_go_on_where_they_were() -> None:
    dataset = Dataset.range(4).interleave(lambda x: Dataset.range(x).shuffle(3), cycle_length=2, block_length=2)
    iterator = start(dataset)
    for _ in range(3):
        iterator.next()
    restored = start(dataset)
    restored.load(iterator.save())
    assert drain(restored) == drain(iterator)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: int(x),
        lambda x: int(x) << 40,
        lambda x: float(x),
        lambda x: bool(x % 2),
        lambda x: str(x),
        lambda x: [int(x), float(x), x, "text"][int(x) % 4],
        lambda x: np.int64(x) if x < 20 else int(x),
        lambda x: np.full(2, x) if x == 7 else int(x),
        lambda x: (int(x), np.zeros(int(x) % 2)),
        lambda x: {"b": x, "a": np.zeros(1)},
        lambda x: {1: x},
        lambda x: np.array(int(x)),
        lambda x: np.zeros(2, ">i4"),
    ],
)
def test_blocks_of_results_are_what_single_results_are(function: Any) -> None:
    dataset = Dataset.range(40).map(function)
    single = start(dataset)
    expected = [single.next() for _ in range(40)]
    found = list(dataset)
    assert repr(found) == repr(expected)
    assert [type(leaf) for leaf in found] == [type(leaf) for leaf in expected]
    assert repr(elements(dataset.map(lambda *x: x).batch(1))) == repr(elements(dataset.batch(1).map(lambda *x: x)))


def test_a_number_that_is_no_element_is_told_in_its_place() -> None:
    iterator = iter(Dataset.range(40).map(lambda x: 1 << 64 if x == 30 else int(x)))
    assert [int(next(iterator)) for _ in range(30)] == list(range(30))
    with pytest.raises(ValueError, match="does not fit int64"):
        next(iterator)
    assert [int(x) for x in iterator] == list(range(31, 40))


def test_dimensions_that_a_function_makes_one_stay_open_where_one_of_them_is() -> None:
    grouped = Dataset.range(5).batch(1).group_by_window(lambda x: 0, lambda key, group: group.batch(2), window_size=2)
    assert grouped.element_spec == TensorSpec((None, None), "int64")
    assert grouped.map(lambda x: x.reshape(-1)).element_spec == TensorSpec((None,), "int64")
    pairs = Dataset.from_generator(lambda: [[1], [2, 3]], output_signature=TensorSpec((None,), "int64")).batch(2)
    assert pairs.map(lambda x: x.reshape(-1)).element_spec == TensorSpec((None,), "int64")


def test_an_open_dimension_beside_one_of_no_size_is_looked_at_too() -> None:
    empty = Dataset.from_generator(lambda: [np.zeros((1, 0))], output_signature=TensorSpec((None, 0), "float64"))
    assert empty.map(lambda x: x).element_spec == TensorSpec((None, 0), "float64")


def test_batches_of_sizes_in_turn_leave_the_number_of_rows_open() -> None:
    for sizes in ([1, 3], [1, 1], 1):
        rebatched = Dataset.range(4).batch(3).rebatch(sizes)
        assert rebatched.map(lambda x: x + 1).element_spec == TensorSpec((None,), "int64")
