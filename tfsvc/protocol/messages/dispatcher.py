"""What is asked of a dispatcher, and what it answers."""

from __future__ import annotations

from dataclasses import field

from tfsvc.protocol.messages.description import Consumption
from tfsvc.protocol.messages.shared import (
    DataServiceConfig,
    DataServiceMetadata,
    DatasetDef,
    DataTransferServerInfo,
    Delivery,
    DeploymentMode,
    LaneComplaint,
    LaneInfo,
    LanePlace,
    LaneProgress,
    Level,
    OrderDef,
    ProcessingModeDef,
    TargetWorkers,
    TaskDef,
    TaskInfo,
)
from tfsvc.protocol.messages.snapshots import SnapshotTaskDef, SnapshotTaskProgress
from tfsvc.protocol.splits import ORIGIN, Checkpoint, Lease, SplitPosition
from tfsvc.record import record


@record
class GetVersionRequest:
    pass


@record
class GetVersionResponse:
    version: int = 0
    incarnation: int = 0
    """*Ours*: which life of a tfsvc dispatcher answers; 0 from TensorFlow."""


@record
class ActiveTask:
    task_id: int = 0
    processing_time_nsec: float = 0.0


@record
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
    draining: bool = False
    """*Ours*: it will leave as soon as nothing is lost by that."""
    snapshot_task_progress: tuple[SnapshotTaskProgress, ...] = ()


@record
class WorkerHeartbeatResponse:
    new_tasks: tuple[TaskDef, ...] = ()
    tasks_to_delete: tuple[int, ...] = ()
    snapshot_tasks: tuple[SnapshotTaskDef, ...] = ()
    """All streams that the worker is to write; it lets go of others."""
    drained: bool = False
    """*Ours*: nothing is lost if the worker leaves now."""
    stop: bool = False
    """*Ours*: the whole service ends: the worker is to drain, and to end."""
    interval_ns: int = 0
    """*Ours*: no more than one heartbeat in so long, please; 0: as often as the worker means to."""


@record
class TaskProgress:
    task_id: int = 0
    completed: bool = False


@record
class WorkerUpdateRequest:
    worker_address: str = ""
    updates: tuple[TaskProgress, ...] = ()


@record
class WorkerUpdateResponse:
    pass


@record
class GetDatasetDefRequest:
    dataset_id: str = ""


@record
class GetDatasetDefResponse:
    dataset_def: DatasetDef = field(default_factory=DatasetDef)


@record
class GetSplitRequest:
    iteration_id: int = 0
    repetition: int = 0
    split_provider_index: int = 0


@record
class GetSplitResponse:
    """One split as an int64 scalar, or the end of a repetition."""

    split: int | None = None
    end_of_splits: bool = False


@record
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


@record
class LeaseSplitsResponse:
    lease: Lease = Lease()


@record
class OpenLaneRequest:
    """*Ours*: a worker that is asked for a lane learns where to start it."""

    lane_id: int = 0
    attempt: int = 0
    worker_address: str = ""
    wanted: int = 0


@record
class OpenLaneResponse:
    """*Ours*: where a lane starts, and what feeds it.

    Attributes:
      leases: the splits that were leased to it behind the checkpoint.
      index: the number of an ordered lane, which is dealt its splits and leases none.
      order: how; without lanes for a lane with leases.
    """

    checkpoint: Checkpoint = Checkpoint()
    leases: tuple[Lease, ...] = ()
    index: int = 0
    order: OrderDef = OrderDef()


@record
class GetOrRegisterDatasetRequest:
    dataset: DatasetDef = field(default_factory=DatasetDef)
    metadata: DataServiceMetadata = field(default_factory=DataServiceMetadata)
    dataset_id: str | None = None


@record
class GetOrRegisterDatasetResponse:
    dataset_id: str = ""


@record
class GetDataServiceMetadataRequest:
    dataset_id: str = ""


@record
class GetDataServiceMetadataResponse:
    metadata: DataServiceMetadata = field(default_factory=DataServiceMetadata)


@record
class GetDataServiceConfigRequest:
    pass


@record
class GetDataServiceConfigResponse:
    config: DataServiceConfig = DataServiceConfig()


@record
class GetOrCreateJobRequest:
    dataset_id: str = ""
    processing_mode_def: ProcessingModeDef = ProcessingModeDef()
    job_name: str | None = None
    num_consumers: int | None = None
    use_cross_trainer_cache: bool = False
    target_workers: TargetWorkers = TargetWorkers.UNSPECIFIED
    nonce: str = ""
    """*Ours*: the same for every repetition of one call, so that a retry finds what the first try made."""
    order: OrderDef = OrderDef()
    """*Ours*: in which order the elements come."""
    delivery: Delivery = Delivery.EXACTLY_ONCE
    """*Ours*: how often."""


@record
class GetOrCreateJobResponse:
    """The job.

    Attributes:
      warning: *ours*: that the job was made for another dataset; empty where it was not.
    """

    job_id: int = 0
    warning: str = ""


@record
class GetOrCreateIterationRequest:
    job_id: int = 0
    repetition: int = 0
    nonce: str = ""
    """*Ours*: as in ``GetOrCreateJobRequest``."""
    consumer_index: int = 0
    """*Ours*: which of an ordered job's consumers the reader is."""
    resumes: bool = False
    """*Ours*: whether its lanes start at ``places``, wherever they have got to."""
    places: tuple[LanePlace, ...] = ()
    """*Ours*: lanes that are not mentioned start at their beginning."""


@record
class GetOrCreateIterationResponse:
    """Attributes:
    has_lanes: *ours*: whether our workers give the reader its elements in lanes; no from TensorFlow.
    """

    iteration_client_id: int = 0
    has_lanes: bool = False


@record
class MaybeRemoveTaskRequest:
    task_id: int = 0
    consumer_index: int = 0
    round: int = 0


@record
class MaybeRemoveTaskResponse:
    removed: bool = False


@record
class ReleaseIterationClientRequest:
    iteration_client_id: int = 0
    progress: tuple[LaneProgress, ...] = ()
    """*Ours*: what the reader took in all."""
    consumption: Consumption | None = None
    """*Ours*: the same in numbers, and how long it waited."""


@record
class ReleaseIterationClientResponse:
    pass


@record
class ClientHeartbeatRequest:
    iteration_client_id: int = 0
    current_round: int | None = None
    blocked_round: int | None = None
    target_processing_time_nsec: float = 0.0
    reads_lanes: bool = False
    """*Ours*: the reader speaks ``GetFrames`` and wants lanes of DYNAMIC iterations."""
    progress: tuple[LaneProgress, ...] = ()
    complaints: tuple[LaneComplaint, ...] = ()
    ready: int = 0
    """*Ours*: how many elements a consumer has handed out or could."""
    total: int | None = None
    """*Ours*: how many it has in all, once it knows."""
    nearby: tuple[str, ...] = ()
    """*Ours*: the workers in the reader's own process."""
    consumption: Consumption | None = None
    """*Ours*: what the reader took so far, and how long it waited."""


@record
class ClientHeartbeatResponse:
    task_info: tuple[TaskInfo, ...] = ()
    block_round: int | None = None
    iteration_finished: bool = False
    deployment_mode: DeploymentMode = DeploymentMode.UNSPECIFIED
    lanes: tuple[LaneInfo, ...] = ()
    """*Ours*: this reader's lanes that are not done."""
    warning: str = ""
    """*Ours*: what was lost, for the end of data."""
    level: Level | None = None
    """*Ours*: how far the reader may go, where all consumers get the same number of elements."""


@record
class WorkerInfo:
    address: str = ""


@record
class GetWorkersRequest:
    pass


@record
class GetWorkersResponse:
    workers: tuple[WorkerInfo, ...] = ()


@record
class DisableCompressionAtRuntimeRequest:
    dataset_id: str = ""
    disable_compression_at_runtime: bool = False


@record
class DisableCompressionAtRuntimeResponse:
    compression_disabled_at_runtime: bool | None = None
    no_compression_to_disable: bool | None = None


@record
class GetScalingRequest:
    """*Ours*: how many workers would do."""


@record
class IterationScaling:
    """*Ours*: what one iteration asks for.

    Attributes:
      workers: how many have told how long an element takes them.
      recommended: how many would keep its readers busy.
      processing_time_nsec: how long a worker takes for an element, the mean of those that told.
      target_processing_time_nsec: between which two elements a reader would never wait, the mean over its readers.
    """

    iteration_id: int = 0
    job_name: str = ""
    workers: int = 0
    recommended: int = 0
    processing_time_nsec: float = 0.0
    target_processing_time_nsec: float = 0.0


@record
class GetScalingResponse:
    """*Ours*: so many workers there are, and should be; ``None`` as long as nobody has told enough."""

    workers: int = 0
    recommended: int | None = None
    iterations: tuple[IterationScaling, ...] = ()


@record
class DrainWorkerRequest:
    """*Ours*: a worker is to drain for ``grace_ns`` at the most, and to end. Answered at once."""

    worker_address: str = ""
    grace_ns: int = 0


@record
class DrainWorkerResponse:
    pass


@record
class StopServiceRequest:
    """*Ours*: all workers drain for ``grace_ns`` at the most and end, and then the dispatcher does.

    Answered when the workers are gone.
    """

    grace_ns: int = 0


@record
class StopServiceResponse:
    pass
