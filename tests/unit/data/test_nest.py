"""Nested structures are walked and rebuilt as ``tf.nest`` does."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

import numpy as np
import pytest

from tfsvc import nest

Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("structure", "leaves"),
    [
        (1, [1]),
        (None, [None]),
        ("text", ["text"]),
        ((), []),
        ([1, (2, [3])], [1, 2, 3]),
        ({"b": 1, "a": 2}, [2, 1]),
        (Point(1, {"k": 2}), [1, 2]),
        ((None, {}), [None]),
        (({"b": (), "a": (1, 2)}, (3, 4), Point(5, [6])), [1, 2, 3, 4, 5, 6]),
    ],
)
def test_flatten(structure: Any, leaves: list[Any]) -> None:
    assert nest.flatten(structure) == leaves
    assert nest.pack_sequence_as(structure, leaves) == structure
    assert nest.packer(structure)(tuple(leaves)) == structure


def test_an_array_is_a_leaf() -> None:
    array = np.arange(3)
    assert nest.flatten(array)[0] is array
    assert not nest.is_nested(array)


def test_a_dict_keeps_its_type_and_insertion_order() -> None:
    ordered = nest.pack_sequence_as(OrderedDict([("b", 0), ("a", 0)]), [1, 2])
    assert type(ordered) is OrderedDict
    assert list(ordered.items()) == [("b", 2), ("a", 1)]
    grouped = nest.map_structure(len, defaultdict(list, {"z": "ab", "y": "c"}))
    assert grouped == {"z": 2, "y": 1}
    assert grouped.default_factory is list


def test_map_structure_takes_several_nests() -> None:
    assert nest.map_structure(lambda a, b: a + b, {"x": 1, "y": (2,)}, {"y": (20,), "x": 10}) == {"x": 11, "y": (22,)}
    assert nest.map_structure(lambda a: a + 1, Point(1, 2)) == Point(2, 3)
    assert nest.map_structure(abs, -1) == 1


@pytest.mark.parametrize("flat", [[1], [1, 2, 3]])
def test_too_few_or_too_many_leaves(flat: list[int]) -> None:
    with pytest.raises(ValueError, match=f"Structure had 2 atoms, but flat_sequence had {len(flat)} items"):
        nest.pack_sequence_as((0, [0]), flat)


@pytest.mark.parametrize(
    ("one", "two", "error"),
    [
        ((1, 2), (1, 2, 3), ValueError),
        ((1, 2), 1, ValueError),
        ({"a": 1}, {"b": 1}, ValueError),
        ((1, 2), [1, 2], TypeError),
        (Point(1, 2), (1, 2), TypeError),
    ],
)
def test_different_structures(one: Any, two: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="don't have the same nested structure"):
        nest.assert_same_structure(one, two)


def test_types_of_sequences_may_be_left_unchecked() -> None:
    nest.assert_same_structure((1, [2]), [1, (2,)], check_types=False)
    nest.assert_same_structure(OrderedDict(a=1), {"a": 2})


def test_keys_that_cannot_be_sorted() -> None:
    with pytest.raises(TypeError, match="sortable keys"):
        nest.flatten({1: 0, "a": 0})
