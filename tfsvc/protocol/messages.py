"""Requests and responses: what nodes say to each other.

The names and fields are those of TensorFlow's ``dispatcher.proto`` and ``worker.proto``. Fields marked
*ours* travel under numbers that TensorFlow's peers skip; ``LeaseSplits`` and ``GetFrames`` are calls of
our own. Byte fields hold what the protocol passes on without reading it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from tfsvc.protocol.frames import Frame
from tfsvc.protocol.splits import ORIGIN, Checkpoint, Lease, SplitPlan, SplitPosition

VERSION: Final = 9
"""The version of the data service protocol; TensorFlow's peers insist on it."""


class ShardingPolicy(IntEnum):
    """How the input of a job is divided among the workers.

    ``OFF``: every worker reads the whole dataset. ``DYNAMIC``: splits are handed out to whoever asks,
    each once. The others shard by worker index.
    """

    OFF = 0
    DYNAMIC = 1
    FILE = 2
    DATA = 3
    FILE_OR_DATA = 4
    HINT = 5


class Compression(IntEnum):
    UNSPECIFIED = 0
    OFF = 1
    SNAPPY = 2
    FORCED_SNAPPY = 3


class TargetWorkers(IntEnum):
    UNSPECIFIED = 0
    AUTO = 1
    ANY = 2
    LOCAL = 3


class DeploymentMode(IntEnum):
    UNSPECIFIED = 0
    COLOCATED = 1
    REMOTE = 2
    HYBRID = 3


@dataclass(frozen=True, slots=True)
class DatasetDef:
    """A dataset as it was registered.

    Attributes:
      graph: TensorFlow's serialized ``GraphDef``; empty for a dataset of ours.
      program: *ours*: our serialized operator graph; empty for a dataset of TensorFlow's.
      plans: *ours*: its split providers.
      unsplittable: *ours*: why DYNAMIC sharding is not possible; empty when it is.
    """

    graph: bytes = b""
    program: bytes = b""
    plans: tuple[SplitPlan, ...] = ()
    unsplittable: str = ""


@dataclass(frozen=True, slots=True)
class ProcessingModeDef:
    sharding_policy: ShardingPolicy = ShardingPolicy.OFF


@dataclass(frozen=True, slots=True)
class DataServiceMetadata:
    """What a reader must know of a dataset; ``element_spec`` is a serialized ``StructuredValue``."""

    element_spec: bytes | None = None
    compression: Compression = Compression.UNSPECIFIED
    cardinality: int = 0


@dataclass(frozen=True, slots=True)
class DataServiceConfig:
    deployment_mode: DeploymentMode = DeploymentMode.UNSPECIFIED


@dataclass(frozen=True, slots=True)
class DataTransferServerInfo:
    """A way to fetch elements from a worker: ``"grpc"`` is ``GetElement``, ``"tfsvc"`` is ``GetFrames``."""

    protocol: str = ""
    address: str = ""
    compatibility_info: bytes = b""
    fall_back_to_grpc_at_client_creation_time: bool = False
    fall_back_to_grpc_at_get_element_time: bool = False


@dataclass(frozen=True, slots=True)
class TaskDef:
    """A worker's part in an iteration, as the worker is told of it."""

    dataset_def: DatasetDef | None = None
    path: str | None = None
    dataset_id: str = ""
    task_id: int = 0
    iteration_id: int = 0
    num_split_providers: int = 0
    worker_address: str = ""
    processing_mode_def: ProcessingModeDef = ProcessingModeDef()
    num_consumers: int | None = None
    num_workers: int = 0
    worker_index: int = 0
    use_cross_trainer_cache: bool = False
    compressed: bool = False
    """*Ours*: whether TensorFlow readers expect ``CompressedElement``."""
    seed: int = 0
    """*Ours*: of the iteration's luck."""


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """The same as a reader is told of it."""

    worker_address: str = ""
    transfer_servers: tuple[DataTransferServerInfo, ...] = ()
    worker_tags: tuple[str, ...] = ()
    task_id: int = 0
    iteration_id: int = 0
    worker_uid: int = 0
    starting_round: int = 0
    finished: bool = False
    """*Ours*: whether the task has given all it had, or was lost with its worker."""


@dataclass(frozen=True, slots=True)
class LaneInfo:
    """*Ours*: where a reader finds one of its lanes, and which life of the lane counts."""

    lane_id: int = 0
    attempt: int = 0
    task_id: int = 0
    worker_address: str = ""
    ordinal: int = 0
    """The first element that is still to be taken."""


@dataclass(frozen=True, slots=True)
class LaneProgress:
    """*Ours*: the application has taken the lane's elements before ``ordinal``; ``done``: there are no more."""

    lane_id: int = 0
    ordinal: int = 0
    done: bool = False


@dataclass(frozen=True, slots=True)
class LaneComplaint:
    """*Ours*: a reader cannot get on with this life of a lane.

    ``refused``: the worker answered, but does not have it.
    """

    lane_id: int = 0
    attempt: int = 0
    reason: str = ""
    refused: bool = False


# --- asked of a dispatcher ---


@dataclass(frozen=True, slots=True)
class GetVersionRequest:
    pass


@dataclass(frozen=True, slots=True)
class GetVersionResponse:
    version: int = 0
    incarnation: int = 0
    """*Ours*: which life of a tfsvc dispatcher answers; 0 from TensorFlow."""


@dataclass(frozen=True, slots=True)
class ActiveTask:
    task_id: int = 0
    processing_time_nsec: float = 0.0


@dataclass(frozen=True, slots=True)
class WorkerHeartbeatRequest:
    worker_address: str = ""
    transfer_servers: tuple[DataTransferServerInfo, ...] = ()
    worker_tags: tuple[str, ...] = ()
    worker_uid: int = 0
    current_tasks: tuple[int, ...] = ()
    active_tasks: tuple[ActiveTask, ...] = ()
    incarnation: int = 0
    """*Ours*: which life of the worker speaks; 0 from TensorFlow."""
    interval_ns: int = 0
    """*Ours*: how often it means to be heard."""
    leaving: bool = False
    """*Ours*: it ends in good order, and takes no more work."""


@dataclass(frozen=True, slots=True)
class WorkerHeartbeatResponse:
    new_tasks: tuple[TaskDef, ...] = ()
    tasks_to_delete: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskProgress:
    task_id: int = 0
    completed: bool = False


@dataclass(frozen=True, slots=True)
class WorkerUpdateRequest:
    worker_address: str = ""
    updates: tuple[TaskProgress, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkerUpdateResponse:
    pass


@dataclass(frozen=True, slots=True)
class GetDatasetDefRequest:
    dataset_id: str = ""


@dataclass(frozen=True, slots=True)
class GetDatasetDefResponse:
    dataset_def: DatasetDef = field(default_factory=DatasetDef)


@dataclass(frozen=True, slots=True)
class GetSplitRequest:
    iteration_id: int = 0
    repetition: int = 0
    split_provider_index: int = 0


@dataclass(frozen=True, slots=True)
class GetSplitResponse:
    """One split as an int64 scalar, or the end of a repetition."""

    split: int | None = None
    end_of_splits: bool = False


@dataclass(frozen=True, slots=True)
class LeaseSplitsRequest:
    """*Ours*: a worker asks for the lane's splits from position ``at`` on.

    Positions make the call safe to repeat: what was leased before is given again.

    Attributes:
      wanted: how many splits at the most, 0 only to report ``checkpoint``.
      checkpoint: the newest place where the lane can start again.
    """

    lane_id: int = 0
    attempt: int = 0
    provider: int = 0
    at: SplitPosition = ORIGIN
    wanted: int = 0
    checkpoint: Checkpoint | None = None


@dataclass(frozen=True, slots=True)
class LeaseSplitsResponse:
    lease: Lease = Lease()


@dataclass(frozen=True, slots=True)
class OpenLaneRequest:
    """*Ours*: a worker that is asked for a lane learns where to start it."""

    lane_id: int = 0
    attempt: int = 0
    worker_address: str = ""
    wanted: int = 0


@dataclass(frozen=True, slots=True)
class OpenLaneResponse:
    checkpoint: Checkpoint = Checkpoint()
    leases: tuple[Lease, ...] = ()


@dataclass(frozen=True, slots=True)
class GetOrRegisterDatasetRequest:
    dataset: DatasetDef = field(default_factory=DatasetDef)
    metadata: DataServiceMetadata = field(default_factory=DataServiceMetadata)
    dataset_id: str | None = None


@dataclass(frozen=True, slots=True)
class GetOrRegisterDatasetResponse:
    dataset_id: str = ""


@dataclass(frozen=True, slots=True)
class GetDataServiceMetadataRequest:
    dataset_id: str = ""


@dataclass(frozen=True, slots=True)
class GetDataServiceMetadataResponse:
    metadata: DataServiceMetadata = field(default_factory=DataServiceMetadata)


@dataclass(frozen=True, slots=True)
class GetDataServiceConfigRequest:
    pass


@dataclass(frozen=True, slots=True)
class GetDataServiceConfigResponse:
    config: DataServiceConfig = DataServiceConfig()


@dataclass(frozen=True, slots=True)
class GetOrCreateJobRequest:
    dataset_id: str = ""
    processing_mode_def: ProcessingModeDef = ProcessingModeDef()
    job_name: str | None = None
    num_consumers: int | None = None
    use_cross_trainer_cache: bool = False
    target_workers: TargetWorkers = TargetWorkers.UNSPECIFIED
    nonce: str = ""
    """*Ours*: the same for every repetition of one call, so that a retry finds what the first try made."""


@dataclass(frozen=True, slots=True)
class GetOrCreateJobResponse:
    job_id: int = 0


@dataclass(frozen=True, slots=True)
class GetOrCreateIterationRequest:
    job_id: int = 0
    repetition: int = 0
    nonce: str = ""
    """*Ours*: as in ``GetOrCreateJobRequest``."""


@dataclass(frozen=True, slots=True)
class GetOrCreateIterationResponse:
    iteration_client_id: int = 0


@dataclass(frozen=True, slots=True)
class MaybeRemoveTaskRequest:
    task_id: int = 0
    consumer_index: int = 0
    round: int = 0


@dataclass(frozen=True, slots=True)
class MaybeRemoveTaskResponse:
    removed: bool = False


@dataclass(frozen=True, slots=True)
class ReleaseIterationClientRequest:
    iteration_client_id: int = 0
    progress: tuple[LaneProgress, ...] = ()
    """*Ours*: what the reader took in all."""


@dataclass(frozen=True, slots=True)
class ReleaseIterationClientResponse:
    pass


@dataclass(frozen=True, slots=True)
class ClientHeartbeatRequest:
    iteration_client_id: int = 0
    current_round: int | None = None
    blocked_round: int | None = None
    target_processing_time_nsec: float = 0.0
    reads_lanes: bool = False
    """*Ours*: the reader speaks ``GetFrames`` and wants lanes of DYNAMIC iterations."""
    progress: tuple[LaneProgress, ...] = ()
    complaints: tuple[LaneComplaint, ...] = ()


@dataclass(frozen=True, slots=True)
class ClientHeartbeatResponse:
    task_info: tuple[TaskInfo, ...] = ()
    block_round: int | None = None
    iteration_finished: bool = False
    deployment_mode: DeploymentMode = DeploymentMode.UNSPECIFIED
    lanes: tuple[LaneInfo, ...] = ()
    """*Ours*: this reader's lanes that are not done."""
    warning: str = ""
    """*Ours*: what was lost, for the end of data."""


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    address: str = ""


@dataclass(frozen=True, slots=True)
class GetWorkersRequest:
    pass


@dataclass(frozen=True, slots=True)
class GetWorkersResponse:
    workers: tuple[WorkerInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class DisableCompressionAtRuntimeRequest:
    dataset_id: str = ""
    disable_compression_at_runtime: bool = False


@dataclass(frozen=True, slots=True)
class DisableCompressionAtRuntimeResponse:
    compression_disabled_at_runtime: bool | None = None
    no_compression_to_disable: bool | None = None


# --- asked of a worker ---


@dataclass(frozen=True, slots=True)
class ProcessTaskRequest:
    task: TaskDef = field(default_factory=TaskDef)


@dataclass(frozen=True, slots=True)
class ProcessTaskResponse:
    pass


@dataclass(frozen=True, slots=True)
class GetElementRequest:
    task_id: int = 0
    consumer_index: int | None = None
    round_index: int | None = None
    skipped_previous_round: bool = False
    allow_skip: bool = False
    trainer_id: str = ""


@dataclass(frozen=True, slots=True)
class GetElementResponse:
    """``element`` is the serialized one-of of TensorFlow's message, empty at the end or for a skip."""

    element: bytes = b""
    element_index: int = 0
    end_of_sequence: bool = False
    skip_task: bool = False


@dataclass(frozen=True, slots=True)
class GetFramesRequest:
    """*Ours*: a reader asks for a stream's elements from ``ordinal`` on, and gives back what lies before.

    Attributes:
      lane_id: the lane, or 0 for the part of a task that is this reader's.
      attempt: which life of the lane.
      client_id: the reader.
      ordinal: the first element wanted.
      bytes_max: how much to send at the most, 0 only to give back.
    """

    task_id: int = 0
    lane_id: int = 0
    attempt: int = 0
    client_id: int = 0
    ordinal: int = 0
    bytes_max: int = 0


@dataclass(frozen=True, slots=True)
class GetFramesResponse:
    """*Ours*: ``end_of_stream``: the frames sent here are the last ones."""

    frames: tuple[Frame, ...] = ()
    end_of_stream: bool = False


@dataclass(frozen=True, slots=True)
class GetWorkerTasksRequest:
    pass


@dataclass(frozen=True, slots=True)
class GetWorkerTasksResponse:
    tasks: tuple[TaskInfo, ...] = ()


DispatcherRequest = (
    GetVersionRequest
    | WorkerHeartbeatRequest
    | WorkerUpdateRequest
    | GetDatasetDefRequest
    | GetSplitRequest
    | LeaseSplitsRequest
    | OpenLaneRequest
    | GetOrRegisterDatasetRequest
    | GetDataServiceMetadataRequest
    | GetDataServiceConfigRequest
    | GetOrCreateJobRequest
    | GetOrCreateIterationRequest
    | MaybeRemoveTaskRequest
    | ReleaseIterationClientRequest
    | ClientHeartbeatRequest
    | GetWorkersRequest
    | DisableCompressionAtRuntimeRequest
)
WorkerRequest = ProcessTaskRequest | GetElementRequest | GetFramesRequest | GetWorkerTasksRequest
Request = DispatcherRequest | WorkerRequest
Response = (
    GetVersionResponse
    | WorkerHeartbeatResponse
    | WorkerUpdateResponse
    | GetDatasetDefResponse
    | GetSplitResponse
    | LeaseSplitsResponse
    | OpenLaneResponse
    | GetOrRegisterDatasetResponse
    | GetDataServiceMetadataResponse
    | GetDataServiceConfigResponse
    | GetOrCreateJobResponse
    | GetOrCreateIterationResponse
    | MaybeRemoveTaskResponse
    | ReleaseIterationClientResponse
    | ClientHeartbeatResponse
    | GetWorkersResponse
    | DisableCompressionAtRuntimeResponse
    | ProcessTaskResponse
    | GetElementResponse
    | GetFramesResponse
    | GetWorkerTasksResponse
)
