"""Every kind of component as PyTorch's tensor."""

from __future__ import annotations

import warnings
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from tfsvc.data import Dataset
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import DTYPES

torch = pytest.importorskip("torch")

from tfsvc.torch import to_tensors  # noqa: E402

pytestmark = pytest.mark.trainers

UNKNOWN = {"int4", "uint4", "float8_e4m3b11fnuz"}
Pair = namedtuple("Pair", "a b")


def frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("name", sorted(DTYPES.keys() - UNKNOWN - {"string"}))
def test_every_type_keeps_its_values(name: str, copy: bool) -> None:
    array = frozen(np.array([[0, 1], [1, 0]]).astype(DTYPES[name].numpy))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tensor = to_tensors(array, copy)
        scalar = to_tensors(array[0, 1], copy)
    assert str(tensor.dtype) == f"torch.{name}"
    assert tensor.to(torch.complex128).tolist() == [[0, 1], [1, 0]]
    assert (scalar.shape, scalar.dtype, scalar.to(torch.complex128).item()) == ((), tensor.dtype, 1)


@pytest.mark.parametrize("name", sorted(UNKNOWN))
def test_a_type_that_pytorch_has_not_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"no tensors of {name}; map the component"):
        to_tensors(np.zeros(2, DTYPES[name].numpy))


def test_a_copy_may_be_changed_and_a_view_shares() -> None:
    array = frozen(np.arange(4))
    copied, shared = to_tensors(array), to_tensors(array, copy=False)
    copied[0] = 9
    assert array.tolist() == [0, 1, 2, 3]
    assert shared.data_ptr() == array.ctypes.data
    del array
    assert shared.tolist() == [0, 1, 2, 3]


def test_what_cannot_be_shared_is_copied() -> None:
    assert to_tensors(frozen(np.arange(4)[::-1]), copy=False).tolist() == [3, 2, 1, 0]
    assert to_tensors(frozen(np.zeros((0, 3))), copy=False).shape == (0, 3)
    assert to_tensors(frozen(np.arange(6).reshape(2, 3).T), copy=False).tolist() == [[0, 3], [1, 4], [2, 5]]


def test_strings_stay_bytes() -> None:
    assert to_tensors(b"one") == b"one"
    assert to_tensors(np.array([[b"a"], [b"b"]], object)) == [[b"a"], [b"b"]]


def test_structures_stay() -> None:
    made = to_tensors({"b": (np.int64(1), Pair(np.float32(2), b"x")), "a": np.arange(2)})
    assert list(made) == ["b", "a"]
    assert made["a"].tolist() == [0, 1]
    assert isinstance(made["b"][1], Pair)
    assert made["b"][1].b == b"x"


def test_a_dataset_is_no_tensor() -> None:
    with pytest.raises(InvalidArgumentError, match="flat_map them, or batch each"):
        to_tensors(next(iter(Dataset.range(4).window(2))))
