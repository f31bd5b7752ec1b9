"""``tf.data.Options``: wishes about how a dataset runs.

All of TensorFlow's options are taken and kept as data. ``deterministic`` has an effect here; the others tune
a runtime that this library does not have.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import Any, TypeVar

AnyOptions = TypeVar("AnyOptions", bound="OptionsBase")


class AutoShardPolicy(IntEnum):
    """How a dataset is sharded over workers, as ``tf.data.experimental.AutoShardPolicy``."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class AutotuneAlgorithm(IntEnum):
    """As ``tf.data.experimental.AutotuneAlgorithm``."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class ExternalStatePolicy(IntEnum):
    """As ``tf.data.experimental.ExternalStatePolicy``."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


@dataclass(slots=True)
class OptionsBase:
    """A group of options; what is not set is ``None``, and there are no others to set."""

    def merge(self: AnyOptions, options: AnyOptions) -> AnyOptions:
        """A new group with what either has set; ``options`` goes first.

        Raises:
          TypeError: if the two are of different types.
        """
        if type(options) is not type(self):
            raise TypeError(f"Could not merge incompatible options of type {type(options)} and {type(self)}.")
        merged, default = type(self)(), type(self)()
        for option in fields(self):
            mine, its = getattr(self, option.name), getattr(options, option.name)
            if isinstance(mine, OptionsBase):
                value = mine.merge(its)
            else:
                value = mine if its == getattr(default, option.name) else its
            setattr(merged, option.name, value)
        return merged


@dataclass(slots=True)
class AutotuneOptions(OptionsBase):
    """How parallelism and buffers are chosen."""

    enabled: bool | None = None
    cpu_budget: int | None = None
    ram_budget: int | None = None
    autotune_algorithm: AutotuneAlgorithm | None = None
    initial_parallelism: int | None = None
    min_parallelism: int | None = None


@dataclass(slots=True)
class DistributeOptions(OptionsBase):
    """How ``tf.distribute`` shards a dataset."""

    auto_shard_policy: AutoShardPolicy = AutoShardPolicy.AUTO
    num_devices: int | None = None


@dataclass(slots=True)
class OptimizationOptions(OptionsBase):
    """Which rewrites of the graph are made."""

    apply_default_optimizations: bool | None = None
    filter_fusion: bool | None = None
    filter_parallelization: bool | None = None
    inject_prefetch: bool | None = None
    map_and_batch_fusion: bool | None = None
    map_and_filter_fusion: bool | None = None
    map_fusion: bool | None = None
    map_parallelization: bool | None = None
    noop_elimination: bool | None = None
    parallel_batch: bool | None = None
    seq_interleave_prefetch: bool | None = None
    shuffle_and_repeat_fusion: bool | None = None


@dataclass(slots=True)
class ServiceOptions(OptionsBase):
    """How elements travel in TensorFlow's service."""

    pinned: bool | None = None


@dataclass(slots=True)
class ThreadingOptions(OptionsBase):
    """The threads of TensorFlow's runtime; kept, and without an effect here.

    Attributes:
      max_intra_op_parallelism: of one operator.
      private_threadpool_size: of the dataset.
    """

    max_intra_op_parallelism: int | None = None
    private_threadpool_size: int | None = None


@dataclass(slots=True)
class Options(OptionsBase):
    """The options of a dataset, for ``Dataset.with_options``.

    Attributes:
      deterministic: whether elements keep their order where an operator works on several at once; ``None``
        is ``True``. An argument of the operator goes first.
      autotune: how parallelism and buffers are chosen. This and all that follow are kept, and have no effect here.
      dataset_name: a label.
      experimental_distribute: how ``tf.distribute`` shards the dataset.
      experimental_external_state_policy: what becomes of state outside of the dataset.
      experimental_optimization: which rewrites of the graph are made.
      experimental_service: how elements travel in TensorFlow's service.
      experimental_slack: as in TensorFlow, as are the others.
      experimental_symbolic_checkpoint: as there.
      experimental_warm_start: as there.
      framework_type: as there.
      threading: the threads of TensorFlow's runtime.
    """

    autotune: AutotuneOptions = field(default_factory=AutotuneOptions)
    dataset_name: str | None = None
    deterministic: bool | None = None
    experimental_distribute: DistributeOptions = field(default_factory=DistributeOptions)
    experimental_external_state_policy: ExternalStatePolicy | None = None
    experimental_optimization: OptimizationOptions = field(default_factory=OptimizationOptions)
    experimental_service: ServiceOptions = field(default_factory=ServiceOptions)
    experimental_slack: bool | None = None
    experimental_symbolic_checkpoint: bool | None = None
    experimental_warm_start: bool | None = None
    framework_type: Any = None
    threading: ThreadingOptions = field(default_factory=ThreadingOptions)
