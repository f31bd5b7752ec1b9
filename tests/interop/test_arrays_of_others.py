"""Arrays of PyTorch, JAX and TensorFlow go in at sources and come out of functions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.unit.data.helpers import elements
from tfsvc.data import Dataset
from tfsvc.data.experimental import in_processes
from tfsvc.specs import DTYPES, TensorSpec

pytestmark = pytest.mark.interop

NUMBERS = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64"]


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


class OnlyDLPack:
    """An array that speaks nothing else."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._array.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class OnlyArray:
    def __init__(self, array: Any) -> None:
        self._array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._array


@pytest.mark.parametrize("kind", [OnlyDLPack, OnlyArray])
def test_anything_that_speaks_a_protocol(kind: Any) -> None:
    array = np.arange(6, dtype=np.float32).reshape(3, 2)
    slices = Dataset.from_tensor_slices({"a": kind(array)})
    assert address(next(iter(slices))["a"]) == address(array)
    assert elements(Dataset.range(2).map(lambda x: kind(array + x))) == [array.tolist(), (array + 1).tolist()]


@pytest.mark.parametrize("name", [name for name in DTYPES if name != "string"])
def test_every_dtype_of_numpy_and_ml_dtypes(name: str) -> None:
    array = np.ones((3, 2), DTYPES[name].numpy)
    dataset = Dataset.from_tensor_slices(array)
    assert dataset.element_spec == TensorSpec((2,), name)
    for mapped in (dataset.map(lambda x: x[0]), dataset.map(in_processes(lambda x: x[0]), 1)):
        assert [x.dtype for x in mapped] == [array.dtype] * 3
    assert next(iter(dataset.batch(3))).dtype == array.dtype


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.fixture
def jax() -> Any:
    return pytest.importorskip("jax")


@pytest.fixture
def tensorflow() -> Any:
    return pytest.importorskip("tensorflow")


@pytest.mark.parametrize("name", NUMBERS)
def test_tensors_of_torch(torch: Any, name: str) -> None:
    tensor = torch.ones((3, 2), dtype=getattr(torch, name))
    first = next(iter(Dataset.from_tensor_slices(tensor)))
    assert first.dtype == np.dtype(name)
    assert address(first) == tensor.data_ptr()
    assert elements(Dataset.range(2).map(lambda x: (tensor[0], torch.tensor(int(x))))) == [
        ([1, 1], 0),
        ([1, 1], 1),
    ]


@pytest.mark.parametrize("name", ["bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_small_floats_of_torch(torch: Any, name: str) -> None:
    tensor = torch.tensor([[1.0, 1.5], [2.0, -3.0], [0.0, 0.25]]).to(getattr(torch, name))
    rows = list(Dataset.from_tensor_slices(tensor))
    assert rows[0].dtype == getattr(ml_dtypes, name)
    assert address(rows[0]) == tensor.data_ptr()
    assert [row.astype(float).tolist() for row in rows] == tensor.float().tolist()
    (scalar,) = Dataset.range(1).map(lambda x: tensor[1, 1])
    assert scalar == -3
    assert scalar.dtype == getattr(ml_dtypes, name)


def test_a_tensor_of_torch_that_is_filled_again(torch: Any) -> None:
    buffer = torch.zeros(2, dtype=torch.int64)

    def fill(x: Any) -> Any:
        return buffer.fill_(int(x))

    assert [x.tolist() for x in list(Dataset.range(3).map(fill))] == [[0, 0], [1, 1], [2, 2]]


def test_torch_says_how_to_get_at_a_tensor(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="detach"):
        Dataset.from_tensors(torch.ones(2, requires_grad=True))


def test_what_torch_makes_of_elements(torch: Any) -> None:
    def double(x: Any) -> Any:
        return torch.from_numpy(np.array(x)) * 2

    source = Dataset.from_tensor_slices(np.arange(6).reshape(3, 2))
    assert elements(source.map(double)) == elements(source.map(in_processes(double), 1)) == [[0, 2], [4, 6], [8, 10]]


@pytest.mark.parametrize("name", [*NUMBERS, "bfloat16"])
def test_arrays_of_jax(jax: Any, name: str) -> None:
    with jax.enable_x64(True):
        array = jax.numpy.ones((3, 2), name)
    rows = list(Dataset.from_tensor_slices(array))
    assert rows[0].dtype == array.dtype
    assert address(rows[0]) == array.unsafe_buffer_pointer()
    assert elements(Dataset.range(1).map(lambda x: {"a": array, "b": array[0, 0]})) == [{"a": [[1, 1]] * 3, "b": 1}]
    (passed,) = Dataset.range(1).map(lambda x: array)
    assert address(passed) == array.unsafe_buffer_pointer()


@pytest.mark.parametrize("name", [*NUMBERS, "bfloat16"])
def test_tensors_of_tensorflow(tensorflow: Any, name: str) -> None:
    tensor = tensorflow.cast([[1, 1]] * 3, name)
    rows = list(Dataset.from_tensor_slices(tensor))
    assert rows[0].dtype == tensor.dtype.as_numpy_dtype
    assert elements(Dataset.range(1).map(lambda x: (tensor, tensor[0, 0]))) == [([[1, 1]] * 3, 1)]


def test_strings_of_tensorflow(tensorflow: Any) -> None:
    text = tensorflow.constant([["a", "bc"]])
    assert elements(Dataset.from_tensor_slices(text)) == [[b"a", b"bc"]]
    assert elements(Dataset.range(1).map(lambda x: text[0, 1])) == [b"bc"]
