"""Updates: the facts that a dispatcher must remember through a crash, in journal order."""

from __future__ import annotations

from dataclasses import dataclass

from tfsvc.protocol.messages import (
    DataServiceMetadata,
    DatasetDef,
    DataTransferServerInfo,
    Delivery,
    LanePlace,
    OrderDef,
    ShardingPolicy,
    TargetWorkers,
)
from tfsvc.protocol.snapshot_updates import SnapshotUpdate
from tfsvc.protocol.splits import Checkpoint, Lease


@dataclass(frozen=True, slots=True)
class RegisterDataset:
    dataset_id: str
    dataset: DatasetDef
    metadata: DataServiceMetadata


@dataclass(frozen=True, slots=True)
class DecideCompression:
    dataset_id: str
    disabled: bool


@dataclass(frozen=True, slots=True)
class RegisterWorker:
    """A worker, or a new life of one at the same address; ``interval_ns``: how often it means to be heard."""

    address: str
    incarnation: int
    transfer_servers: tuple[DataTransferServerInfo, ...]
    tags: tuple[str, ...]
    uid: int
    interval_ns: int = 0


@dataclass(frozen=True, slots=True)
class LoseWorker:
    """A worker's current life is over; its tasks and lanes need another."""

    address: str


@dataclass(frozen=True, slots=True)
class CreateJob:
    job_id: int
    name: str
    dataset_id: str
    policy: ShardingPolicy
    num_consumers: int | None
    use_cross_trainer_cache: bool
    target_workers: TargetWorkers
    nonce: str
    order: OrderDef = OrderDef()
    delivery: Delivery = Delivery.EXACTLY_ONCE


@dataclass(frozen=True, slots=True)
class CreateIteration:
    iteration_id: int
    job_id: int
    repetition: int
    seed: int


@dataclass(frozen=True, slots=True)
class AcquireClient:
    iteration_id: int
    client_id: int
    nonce: str
    consumer_index: int = 0


@dataclass(frozen=True, slots=True)
class ReleaseClient:
    client_id: int


@dataclass(frozen=True, slots=True)
class CreateTask:
    """``pending``: the readers of coordinated rounds have not agreed on its first round yet."""

    task_id: int
    iteration_id: int
    worker_address: str
    pending: bool = False


@dataclass(frozen=True, slots=True)
class PromoteTask:
    """All readers of coordinated rounds begin with a task in the same round."""

    task_id: int
    starting_round: int


@dataclass(frozen=True, slots=True)
class RemoveTask:
    """All readers of coordinated rounds have given up a task in the same round."""

    task_id: int


@dataclass(frozen=True, slots=True)
class FinishTask:
    """The task has given all it had; ``lost``: or what it still had is gone."""

    task_id: int
    lost: bool = False


@dataclass(frozen=True, slots=True)
class CollectIteration:
    """An iteration that nobody reads any more is dropped."""

    iteration_id: int


@dataclass(frozen=True, slots=True)
class ProduceSplit:
    """A split, or the end of a repetition, was handed out by TensorFlow's ``GetSplit``."""

    iteration_id: int
    provider: int
    repetition: int
    finished: bool


@dataclass(frozen=True, slots=True)
class OpenLane:
    lane_id: int
    iteration_id: int
    task_id: int
    client_id: int


@dataclass(frozen=True, slots=True)
class DealLane:
    """An ordered lane is there, for no task and no reader yet; it takes the place of an older one of its number."""

    lane_id: int
    iteration_id: int
    place: LanePlace


@dataclass(frozen=True, slots=True)
class CountConsumer:
    """A consumer that must get as many elements as the others has ``total`` in all."""

    iteration_id: int
    consumer: int
    total: int


@dataclass(frozen=True, slots=True)
class LeaseSplits:
    lane_id: int
    lease: Lease


@dataclass(frozen=True, slots=True)
class MoveLane:
    """A lane goes on as another attempt, at another task (0: none yet) or for another reader (0: none)."""

    lane_id: int
    attempt: int
    task_id: int
    client_id: int


@dataclass(frozen=True, slots=True)
class RepeatLane:
    """As ``MoveLane``, and what came behind the lane's oldest checkpoint comes again."""

    lane_id: int
    attempt: int
    task_id: int
    client_id: int


@dataclass(frozen=True, slots=True)
class DropLane:
    """What is left of a lane is given up."""

    lane_id: int


@dataclass(frozen=True, slots=True)
class AdvanceLane:
    """The reader has taken the lane's elements before ``ordinal``; ``done``: that was all."""

    lane_id: int
    ordinal: int
    done: bool
    checkpoint: Checkpoint | None = None


@dataclass(frozen=True, slots=True)
class SaveCheckpoint:
    lane_id: int
    checkpoint: Checkpoint


Update = (
    RegisterDataset
    | DecideCompression
    | RegisterWorker
    | LoseWorker
    | CreateJob
    | CreateIteration
    | AcquireClient
    | ReleaseClient
    | CreateTask
    | PromoteTask
    | RemoveTask
    | FinishTask
    | CollectIteration
    | ProduceSplit
    | OpenLane
    | DealLane
    | CountConsumer
    | LeaseSplits
    | MoveLane
    | RepeatLane
    | DropLane
    | AdvanceLane
    | SaveCheckpoint
    | SnapshotUpdate
)
