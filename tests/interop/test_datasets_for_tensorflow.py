"""``tfsvc.tensorflow.to_tf``: our datasets as TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfsvc
from tfsvc.specs import DTYPES
from tfsvc.tensorflow import to_tf

pytestmark = pytest.mark.interop

tf = pytest.importorskip("tensorflow")

service = tfsvc.data.experimental.service
Dataset = tfsvc.data.Dataset


@pytest.mark.parametrize("name", [name for name in DTYPES if name not in ("string", "float8_e5m2")])
def test_every_type_arrives(name: str) -> None:
    made = to_tf(Dataset.from_tensor_slices(np.array([0, 1], DTYPES[name].numpy)))
    assert made.element_spec == tf.TensorSpec((), tf.as_dtype(name))
    assert [complex(x) for x in made.as_numpy_iterator()] == [0, 1]


def test_structures_strings_and_lengths() -> None:
    made = to_tf(Dataset.range(3).map(lambda x: {"a": (x, b"%d" % x), "b": np.float32(x)}))
    assert made.element_spec == {
        "a": (tf.TensorSpec((), tf.int64), tf.TensorSpec((), tf.string)),
        "b": tf.TensorSpec((), tf.float32),
    }
    assert len(made) == 3
    for _ in range(2):
        assert list(made.as_numpy_iterator()) == [{"a": (x, b"%d" % x), "b": x} for x in range(3)]


def test_rows_of_unlike_lengths_become_ragged() -> None:
    rows = Dataset.from_generator(
        lambda: (np.arange(n) for n in range(4)), output_signature=tfsvc.TensorSpec((None,), "int64")
    )
    (ragged,) = to_tf(rows).ragged_batch(4)
    assert isinstance(ragged, tf.RaggedTensor)
    assert ragged.to_list() == [[], [0], [0, 1], [0, 1, 2]]


@pytest.mark.parametrize(
    ("dataset", "cardinality"), [(Dataset.range(2).repeat(), -1), (Dataset.range(4).filter(lambda x: x > 1), -2)]
)
def test_lengths_that_are_not_known(dataset: Any, cardinality: int) -> None:
    assert int(to_tf(dataset).cardinality()) == cardinality
    assert len(list(to_tf(dataset).take(2))) == 2


def test_elements_of_a_service() -> None:
    with (
        service.DispatchServer() as dispatcher,
        service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher.target)),
    ):
        read = Dataset.range(20).apply(service.distribute("distributed_epoch", dispatcher.target))
        made = to_tf(read).batch(5)
        for _ in range(2):
            assert sorted(np.concatenate(list(made.as_numpy_iterator()))) == list(range(20))


def test_what_is_no_dataset_of_tensors_is_refused() -> None:
    with pytest.raises(TypeError, match="of tfsvc"):
        to_tf(tf.data.Dataset.range(3))
    with pytest.raises(TypeError, match="flat_map windows first"):
        to_tf(Dataset.range(4).window(2))
