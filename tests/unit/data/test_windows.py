"""window, group_by_window and bucket_by_sequence_length."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data import Dataset, DatasetSpec
from tfsvc.errors import DataLossError, InvalidArgumentError
from tfsvc.specs import TensorSpec


def test_a_window_is_a_dataset() -> None:
    windows = list(Dataset.range(5).window(2))
    assert [elements(window) for window in windows] == [[0, 1], [2, 3], [4]]
    assert [len(window) for window in windows] == [2, 2, 1]
    assert len(Dataset.range(5).window(2)) == 3


def test_windows_overlap_and_stride() -> None:
    overlapping = Dataset.range(6).window(3, shift=2, stride=2, drop_remainder=True)
    assert elements(overlapping.flat_map(lambda w: w.batch(3))) == [[0, 2, 4]]
    apart = Dataset.range(7).window(1, shift=3)
    assert elements(apart.flat_map(lambda w: w)) == [0, 3, 6]


def test_each_component_has_a_window_of_its_own() -> None:
    dataset = Dataset.range(3).map(lambda x: {"n": x, "s": "ab"}).window(2)
    assert dataset.element_spec == {
        "n": DatasetSpec(TensorSpec((), "int64")),
        "s": DatasetSpec(TensorSpec((), "string")),
    }
    assert [{key: elements(part) for key, part in window.items()} for window in dataset] == [
        {"n": [0, 1], "s": [b"ab", b"ab"]},
        {"n": [2], "s": [b"ab"]},
    ]


def test_windows_may_be_kept_and_saved() -> None:
    dataset = Dataset.range(6).window(2).shuffle(2, seed=1).flat_map(lambda w: w.batch(2))
    iterator = start(dataset)
    state = pickle.loads(pickle.dumps(iterator.save()))
    restored = start(dataset)
    restored.load(state)
    assert sorted(drain(restored)) == [[0, 1], [2, 3], [4, 5]]


def test_windows_cannot_be_batched_or_sent() -> None:
    with pytest.raises(InvalidArgumentError, match="cannot be batched"):
        list(Dataset.range(4).window(2).batch(2))


def test_groups_are_reduced_when_they_are_full_and_at_the_end() -> None:
    dataset = Dataset.range(7).group_by_window(lambda x: x % 2, lambda key, group: group.batch(3), window_size=3)
    assert elements(dataset) == [[0, 2, 4], [1, 3, 5], [6]]
    sized = Dataset.range(6).group_by_window(
        lambda x: x % 2, lambda key, group: group.map(lambda x: (key, x)), window_size_func=lambda key: key + 1
    )
    assert elements(sized) == [(0, 0), (0, 2), (1, 1), (1, 3), (0, 4), (1, 5)]


def test_a_group_needs_a_size_and_a_key() -> None:
    with pytest.raises(InvalidArgumentError, match="greater than zero"):
        list(Dataset.range(3).group_by_window(lambda x: x, lambda k, g: g, window_size=0))
    with pytest.raises(ValueError, match="single integer scalar"):
        list(Dataset.range(3).group_by_window(lambda x: "a", lambda k, g: g, window_size=2))


def test_half_read_groups_are_saved() -> None:
    dataset = Dataset.range(8).group_by_window(lambda x: x % 3, lambda key, group: group, window_size=2)
    iterator = start(dataset)
    taken = [int(iterator.next()) for _ in range(3)]
    restored = start(dataset)
    restored.load(pickle.loads(pickle.dumps(iterator.save())))
    rest = drain(restored)
    assert rest == drain(iterator)
    assert taken + rest == [0, 3, 1, 4, 2, 5, 6, 7]


def test_sequences_are_bucketed_by_their_length() -> None:
    rows = Dataset.range(1, 5).map(lambda n: np.full(n, n))
    dataset = rows.bucket_by_sequence_length(len, [3], [2, 2])
    assert elements(dataset) == [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]
    padded = rows.take(2).bucket_by_sequence_length(len, [4], [2, 2], pad_to_bucket_boundary=True)
    assert elements(padded) == [[[1, 0, 0], [2, 2, 0]]]
    with pytest.raises(InvalidArgumentError, match="length < max"):
        list(rows.bucket_by_sequence_length(len, [2], [1, 1], pad_to_bucket_boundary=True))


def test_a_dimension_left_open_is_padded_to_the_boundary_whatever_the_elements_are() -> None:
    rows = Dataset.from_tensor_slices(np.ones((1, 2, 3), "int64"))
    one_open = rows.bucket_by_sequence_length(len, [5], [1, 1], padded_shapes=[2, None], pad_to_bucket_boundary=True)
    assert one_open.element_spec == TensorSpec((None, 2, None), "int64")
    assert elements(one_open) == [[[[1, 1, 1, 0]] * 2]]
    too_small = rows.bucket_by_sequence_length(len, [3], [1, 1], padded_shapes=[2, None], pad_to_bucket_boundary=True)
    assert too_small.element_spec == TensorSpec((None, 2, None), "int64")
    with pytest.raises(DataLossError, match=r"\[2, 2\] is less than \[2, 3\]"):
        list(too_small)


def test_elements_too_long_for_all_buckets_may_be_filtered_out() -> None:
    short = Dataset.from_tensor_slices(np.ones((3, 4))).filter(lambda row: bool(row[0] > 1))
    assert elements(short.bucket_by_sequence_length(len, [2], [1, 1], pad_to_bucket_boundary=True)) == []
