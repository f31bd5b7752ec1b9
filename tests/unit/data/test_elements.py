"""Users' values become elements as ``tf.convert_to_tensor`` reads them."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tfsvc.data.elements import as_element, conform, relax, zero_element
from tfsvc.specs import TensorSpec

Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (True, np.bool_, True),
        (1, np.int32, 1),
        (-(1 << 31), np.int32, -(1 << 31)),
        (1 << 31, np.int64, 1 << 31),
        (1.5, np.float32, 1.5),
        (1j, np.complex128, 1j),
        (np.float64(2), np.float64, 2),
        (np.array(3, np.int8), np.int8, 3),
        (ml_dtypes.bfloat16(2), ml_dtypes.bfloat16, 2),
        (np.array(4, ">i4"), np.int32, 4),
    ],
)
def test_scalars_are_numpy_scalars(value: Any, dtype: Any, expected: Any) -> None:
    leaf = as_element(value)
    assert type(leaf) is dtype
    assert leaf == expected


@pytest.mark.parametrize("value", ["é", b"\xc3\xa9", np.str_("é"), np.bytes_(b"\xc3\xa9"), np.array("é")])
def test_strings_are_bytes(value: Any) -> None:
    leaf = as_element(value)
    assert type(leaf) is bytes
    assert leaf == b"\xc3\xa9"


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        ([1, 2], np.int32, [1, 2]),
        ([1, 1 << 40], np.int64, [1, 1 << 40]),
        ([1, 2.5], np.float32, [1.0, 2.5]),
        ([np.float32(1), 2.5], np.float32, [1.0, 2.5]),
        ([np.float64(1), 2], np.float64, [1.0, 2.0]),
        ([True, False], np.bool_, [True, False]),
        ([[1], [2]], np.int32, [[1], [2]]),
        ([(1, 2)], np.int32, [[1, 2]]),
        ([], np.float32, []),
        ([np.arange(2), np.arange(2)], np.int64, [[0, 1], [0, 1]]),
        (["a", b"b"], np.object_, [b"a", b"b"]),
        ([["a", "bc"]], np.object_, [[b"a", b"bc"]]),
        (np.array(["a", "bc"]), np.object_, [b"a", b"bc"]),
        (range(3), np.int32, [0, 1, 2]),
    ],
)
def test_lists_are_arrays(value: Any, dtype: Any, expected: Any) -> None:
    leaf = as_element(value)
    assert leaf.dtype == dtype
    assert leaf.tolist() == expected


def test_tuples_and_dicts_nest() -> None:
    element = as_element({"b": (1, "x"), "a": Point(2.5, [1])})
    assert list(element) == ["b", "a"]
    assert element["b"] == (1, b"x")
    assert type(element["a"]) is Point


def test_an_array_is_not_copied() -> None:
    array = np.zeros(3)
    assert as_element((array,))[0] is array


class Framework:
    """Stands for the tensor of another library."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.arange(2)


class OnlyDLPack:
    def __dlpack__(self, **options: Any) -> Any:
        return np.arange(2).__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return np.arange(2).__dlpack_device__()


@pytest.mark.parametrize("kind", [Framework, OnlyDLPack])
def test_tensors_of_other_libraries_go_in(kind: type[Any]) -> None:
    assert as_element(kind()).tolist() == [0, 1]


@pytest.mark.parametrize("value", [None, object(), {1, 2}, (1, None), [None], np.array([1, None]), bytearray(b"x")])
def test_what_is_no_element(value: Any) -> None:
    with pytest.raises(TypeError):
        as_element(value)


@pytest.mark.parametrize("value", [[[1], [1, 2]], ["a", 1], 1 << 70, [["a"], "b"]])
def test_values_that_fit_no_array(value: Any) -> None:
    with pytest.raises(ValueError):
        as_element(value)


def test_dates_have_no_data_type() -> None:
    with pytest.raises(TypeError, match="no TensorFlow data type"):
        as_element(np.datetime64("2020-01-01"))


def test_conform_casts_numbers_and_checks_shapes() -> None:
    assert type(conform(1.5, TensorSpec((), "int64"))) is np.int64
    assert conform([1, 2], TensorSpec((None,), "uint8")).dtype == np.uint8
    with pytest.raises(TypeError, match="expected a string"):
        conform(1, TensorSpec((), "string"))
    with pytest.raises(TypeError, match="got a string"):
        conform("1", TensorSpec((), "int64"))
    with pytest.raises(ValueError, match="expected the shape"):
        conform([1, 2], TensorSpec((3,), "int64"))


def test_relax_keeps_what_all_specs_share() -> None:
    one, two = TensorSpec((2, 3), "int64"), TensorSpec((4, 3), "int64")
    assert relax([(one,), (two,)]) == (TensorSpec((None, 3), "int64"),)
    assert relax([one, TensorSpec((), "int64")]) == TensorSpec(None, "int64")
    with pytest.raises(TypeError, match="Incompatible dataset elements"):
        relax([one, TensorSpec((2, 3), "int32")])
    with pytest.raises(TypeError):
        relax([one, (one,)])


def test_zero_elements_fit_their_spec() -> None:
    element = zero_element({"a": TensorSpec((None, 2), "int64"), "b": TensorSpec((), "string"), "c": TensorSpec(None)})
    assert element["a"].tolist() == [[0, 0]]
    assert element["b"] == b""
    assert type(element["c"]) is np.float32
