"""``tf.data.experimental``, and :func:`vectorized`, which is this library's own."""

from tfsvc.data.csv_datasets import CsvDataset, make_csv_dataset
from tfsvc.data.dataset import Dataset
from tfsvc.data.experimental import service
from tfsvc.data.experimental.service import distributed_save
from tfsvc.data.functions import vectorized
from tfsvc.data.operator import INFINITE as INFINITE_CARDINALITY
from tfsvc.data.operator import UNKNOWN as UNKNOWN_CARDINALITY
from tfsvc.data.ops.shard import SHARD_HINT
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
from tfsvc.data.sources import from_list

Counter = Dataset.counter
RandomDataset = Dataset.random
choose_from_datasets = Dataset.choose_from_datasets
sample_from_datasets = Dataset.sample_from_datasets

__all__ = [
    "INFINITE_CARDINALITY",
    "SHARD_HINT",
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
    "distributed_save",
    "from_list",
    "make_csv_dataset",
    "sample_from_datasets",
    "service",
    "vectorized",
]
