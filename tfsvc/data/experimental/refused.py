"""Names of ``tf.data.experimental`` that this library has no use for; each says why, and the way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from tfsvc.errors import UnimplementedError


def refused(name: str, why: str) -> Callable[..., Any]:
    """A function that raises :class:`UnimplementedError`, whatever it is given."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise UnimplementedError(message=f"{name} is not there: {why}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Not there: {why}"
    return refuse


_NO_TENSORS = "elements are NumPy arrays, and NumPy has neither ragged nor sparse ones. "
_NO_GRAPH = "datasets are Python objects and not part of a TensorFlow graph. "
_NO_TABLES = _NO_GRAPH + "Make a dict of the elements, and look up in it with map."
_NO_EXAMPLES = "tf.train.Example is not parsed here. Read the records with TFRecordDataset, and parse them in map."

DatasetInitializer = refused("DatasetInitializer", _NO_TABLES)
SqlDataset = refused("SqlDataset", "use from_generator over a cursor of your database's own module.")
dense_to_ragged_batch = refused("dense_to_ragged_batch", _NO_TENSORS + "Use padded_batch.")
dense_to_sparse_batch = refused("dense_to_sparse_batch", _NO_TENSORS + "Use padded_batch.")
distributed_save = refused("distributed_save", "save what distribute gives, with Dataset.save.")
from_variant = refused("from_variant", _NO_GRAPH + "Hand the dataset itself on.")
get_model_proto = refused("get_model_proto", "there is no autotuner that has a model.")
index_table_from_dataset = refused("index_table_from_dataset", _NO_TABLES)
make_batched_features_dataset = refused("make_batched_features_dataset", _NO_EXAMPLES)
make_saveable_from_iterator = refused("make_saveable_from_iterator", "use the iterator's state_dict().")
parse_example_dataset = refused("parse_example_dataset", _NO_EXAMPLES)
table_from_dataset = refused("table_from_dataset", _NO_TABLES)
to_variant = refused("to_variant", _NO_GRAPH + "Hand the dataset itself on.")
