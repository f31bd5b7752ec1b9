"""``tf.data.experimental``, and this library's own marks of functions for ``map``.

They are :func:`in_processes`, :func:`seeded` and :func:`vectorized`.
"""

from tfsvc.data.csv_datasets import CsvDataset, make_csv_dataset
from tfsvc.data.dataset import Dataset
from tfsvc.data.experimental import service
from tfsvc.data.experimental.refused import (
    DatasetInitializer,
    SqlDataset,
    dense_to_ragged_batch,
    dense_to_sparse_batch,
    from_variant,
    get_model_proto,
    index_table_from_dataset,
    make_batched_features_dataset,
    make_saveable_from_iterator,
    parse_example_dataset,
    table_from_dataset,
    to_variant,
)
from tfsvc.data.experimental.service import distributed_save
from tfsvc.data.experimental.transformations import (
    Reducer,
    assert_cardinality,
    at,
    bucket_by_sequence_length,
    cardinality,
    choose_from_datasets,
    copy_to_device,
    enable_debug_mode,
    enumerate_dataset,
    get_next_as_optional,
    get_single_element,
    get_structure,
    group_by_reducer,
    group_by_window,
    ignore_errors,
    load,
    map_and_batch,
    pad_to_cardinality,
    parallel_interleave,
    prefetch_to_device,
    rejection_resample,
    sample_from_datasets,
    save,
    scan,
    shuffle_and_repeat,
    snapshot,
    take_while,
    unbatch,
    unique,
)
from tfsvc.data.functions import in_processes, vectorized
from tfsvc.data.operator import INFINITE as INFINITE_CARDINALITY
from tfsvc.data.operator import UNKNOWN as UNKNOWN_CARDINALITY
from tfsvc.data.ops.shard import SHARD_HINT
from tfsvc.data.optional import Optional
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
from tfsvc.data.sources import from_list, index_webdataset

Counter = Dataset.counter
RandomDataset = Dataset.random
AUTOTUNE = -1
"""As ``tf.data.AUTOTUNE``."""

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "SHARD_HINT",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "Counter",
    "CsvDataset",
    "DatasetInitializer",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "Optional",
    "RandomDataset",
    "Reducer",
    "ServiceOptions",
    "SqlDataset",
    "TFRecordWriter",
    "ThreadingOptions",
    "assert_cardinality",
    "at",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_ragged_batch",
    "dense_to_sparse_batch",
    "distributed_save",
    "enable_debug_mode",
    "enumerate_dataset",
    "from_list",
    "from_variant",
    "get_model_proto",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "in_processes",
    "index_table_from_dataset",
    "index_webdataset",
    "load",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "make_saveable_from_iterator",
    "map_and_batch",
    "pad_to_cardinality",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "save",
    "scan",
    "seeded",
    "service",
    "shuffle_and_repeat",
    "snapshot",
    "table_from_dataset",
    "take_while",
    "to_variant",
    "unbatch",
    "unique",
    "vectorized",
]
