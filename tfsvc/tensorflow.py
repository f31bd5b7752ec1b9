"""TensorFlow: a dataset as one of TensorFlow's own. Needs TensorFlow: ``pip install tensorflow``.

TensorFlow's trainers have another way without this library: a dataset that is registered with a service of ours can be
read by TensorFlow's own ``from_dataset_id``, with its promise of at most once.
"""

from __future__ import annotations

from typing import Any

from tfsvc import nest
from tfsvc.data import Dataset
from tfsvc.data.operator import UNKNOWN
from tfsvc.specs import TensorSpec


def to_tf(dataset: Dataset) -> Any:
    """The same elements as a ``tensorflow.data.Dataset``, made by its ``from_generator``.

    Strings stay strings, and dimensions that vary stay open, so ``ragged_batch`` and ``padded_batch`` of TensorFlow may
    follow. What comes behind may read ahead, so that this library cannot know what a trainer has taken: to resume
    exactly, read ``dataset`` itself. TensorFlow 2.21 makes no generators of float8_e5m2.

    Args:
      dataset: what is read, each time that the result is iterated.

    Returns:
      A ``tensorflow.data.Dataset`` with the element spec and, where it is known, the length of ``dataset``.

    Raises:
      ImportError: if TensorFlow is not installed.
      TypeError: if ``dataset`` is no dataset of this library, or a component is no tensor.
    """
    try:
        import tensorflow as tf
    except ImportError as error:
        raise ImportError("to_tf needs TensorFlow, which is not installed here; pip install tensorflow") from error

    if not isinstance(dataset, Dataset):
        raise TypeError(f"`dataset` must be a `tf.data.Dataset` of tfsvc. Got {type(dataset)}.")

    def signature(spec: Any) -> Any:
        if not isinstance(spec, TensorSpec):
            raise TypeError(f"Components must be tensors, but there is {spec!r}; flat_map windows first.")
        return tf.TensorSpec(spec.shape, tf.as_dtype(spec.dtype.as_datatype_enum), spec.name)

    made = tf.data.Dataset.from_generator(
        lambda: iter(dataset), output_signature=nest.map_structure(signature, dataset.element_spec)
    )
    cardinality = int(dataset.cardinality())
    return made if cardinality == UNKNOWN else made.apply(tf.data.experimental.assert_cardinality(cardinality))
