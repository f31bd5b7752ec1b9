"""``tf.data.experimental``, and this library's own marks of functions for ``map``.

They are :func:`in_processes`, :func:`seeded` and :func:`vectorized`.
"""

from tfsvc.data.csv_datasets import CsvDataset, make_csv_dataset
from tfsvc.data.dataset import Dataset
from tfsvc.data.experimental import service
from tfsvc.data.functions import in_processes, vectorized
from tfsvc.data.operator import INFINITE as INFINITE_CARDINALITY
from tfsvc.data.operator import UNKNOWN as UNKNOWN_CARDINALITY
from tfsvc.data.options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ServiceOptions,
    ThreadingOptions,
)
from tfsvc.data.record_writer import TFRecordWriter
from tfsvc.data.seeded import seeded
from tfsvc.data.sources import from_list

Counter = Dataset.counter
RandomDataset = Dataset.random
choose_from_datasets = Dataset.choose_from_datasets
sample_from_datasets = Dataset.sample_from_datasets

__all__ = [
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "Counter",
    "CsvDataset",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "RandomDataset",
    "ServiceOptions",
    "TFRecordWriter",
    "ThreadingOptions",
    "choose_from_datasets",
    "from_list",
    "in_processes",
    "make_csv_dataset",
    "sample_from_datasets",
    "seeded",
    "service",
    "vectorized",
]
