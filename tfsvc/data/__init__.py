"""``tf.data``: datasets of NumPy arrays."""

from tfsvc.data.dataset import Dataset
from tfsvc.data.iterators import DatasetIterator
from tfsvc.data.operator import INFINITE as INFINITE_CARDINALITY
from tfsvc.data.operator import UNKNOWN as UNKNOWN_CARDINALITY
from tfsvc.data.options import Options, ThreadingOptions
from tfsvc.data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from tfsvc.specs import DatasetSpec

from tfsvc.data import experimental  # isort: skip  (its service stands on the datasets above)

Iterator = NumpyIterator = DatasetIterator

AUTOTUNE = -1
"""Leaves the choice of a degree of parallelism or of a buffer size open."""

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetIterator",
    "DatasetSpec",
    "FixedLengthRecordDataset",
    "Iterator",
    "NumpyIterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "ThreadingOptions",
    "experimental",
]
