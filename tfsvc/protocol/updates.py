"""Updates: the facts that a dispatcher must remember through a crash, in journal order."""

from __future__ import annotations

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
from tfsvc.protocol.splits import Checkpoint, Lease, Span
from tfsvc.record import record


@record
class RegisterDataset:
    dataset_id: str
    dataset: DatasetDef
    metadata: DataServiceMetadata


@record
class DecideCompression:
    dataset_id: str
    disabled: bool


@record
class RegisterWorker:
    """A worker, or a new life of one at the same address."""

    address: str
    incarnation: int
    transfer_servers: tuple[DataTransferServerInfo, ...]
    tags: tuple[str, ...]
    uid: int
    index: int | None = None
    """Its place among the configured workers."""
    interval_ns: int = 0
    """How often it means to be heard."""


@record
class RefreshWorker:
    """A worker says other things of itself than before, in the same life as far as anybody can tell."""

    address: str
    transfer_servers: tuple[DataTransferServerInfo, ...]
    tags: tuple[str, ...]
    uid: int


@record
class LoseWorker:
    """A worker's current life is over, its tasks are finished: nobody need know of it any more."""

    address: str


@record
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


@record
class CreateIteration:
    """An iteration with its first reader; ``finished``: of a repetition that was read to its end before."""

    iteration_id: int
    job_id: int
    repetition: int
    seed: int
    shards: int = 1
    """Into how many parts the data is divided beforehand; 1 unless sharding is static."""
    finished: bool = False


@record
class AcquireClient:
    iteration_id: int
    client_id: int
    nonce: str
    consumer_index: int = 0


@record
class ReleaseClient:
    client_id: int


@record
class CreateTask:
    """A worker's part in an iteration.

    Attributes:
      pending: the readers of coordinated rounds have not agreed on its first round yet.
      shard: which part of the data, where sharding is static.
    """

    task_id: int
    iteration_id: int
    worker_address: str
    pending: bool = False
    shard: int = 0


@record
class PromoteTask:
    """All readers of coordinated rounds begin with a task in the same round."""

    task_id: int
    starting_round: int


@record
class RemoveTask:
    """All readers of coordinated rounds have given up a task in the same round."""

    task_id: int


@record
class FinishTask:
    """The task has given all it had; ``lost``: or what it still had is gone."""

    task_id: int
    lost: bool = False


@record
class CollectIteration:
    """An iteration that nobody reads any more is dropped."""

    iteration_id: int


@record
class FinishIteration:
    """An iteration was read to its end and nobody reads it any more: only that fact is kept."""

    iteration_id: int


@record
class GiveUpShard:
    """No worker came back for a shard of a static iteration; what is left of it is lost."""

    iteration_id: int
    shard: int


@record
class ProduceSplit:
    """A split, or the end of a repetition, was handed out by TensorFlow's ``GetSplit``."""

    iteration_id: int
    provider: int
    repetition: int
    finished: bool


@record
class OpenLane:
    lane_id: int
    iteration_id: int
    task_id: int
    client_id: int


@record
class DealLane:
    """An ordered lane is there, for no task and no reader yet; it takes the place of an older one of its number."""

    lane_id: int
    iteration_id: int
    place: LanePlace


@record
class CountConsumer:
    """A consumer that must get as many elements as the others has ``total`` in all."""

    iteration_id: int
    consumer: int
    total: int


@record
class LeaseSplits:
    lane_id: int
    lease: Lease


@record
class MoveLane:
    """A lane goes on as another attempt, at another task (0: none yet) or for another reader (0: none)."""

    lane_id: int
    attempt: int
    task_id: int
    client_id: int


@record
class RepeatLane:
    """As ``MoveLane``, and what came behind the lane's oldest checkpoint comes again."""

    lane_id: int
    attempt: int
    task_id: int
    client_id: int


@record
class DropLane:
    """What is left of a lane is given up."""

    lane_id: int


@record
class AdvanceLane:
    """The reader has taken the lane's elements before ``ordinal``; ``done``: that was all."""

    lane_id: int
    ordinal: int
    done: bool
    checkpoint: Checkpoint | None = None


@record
class SaveCheckpoint:
    lane_id: int
    checkpoint: Checkpoint


@record
class ReserveIds:
    """New ids go on from these: the first fact of a new state, whose ids no other state shall share."""

    dataset_id: int
    iteration_id: int
    client_id: int
    task_id: int
    job_id: int
    lane_id: int


# The rest is recorded in no step: compacting writes them, to say in few facts what many had come to.


@record
class Nonce:
    """What a call with this nonce made."""

    nonce: str
    made: int


@record
class RestoreNonces:
    nonces: tuple[Nonce, ...]


@record
class RestoreFinished:
    """Repetitions of a job that were read to their end."""

    job_id: int
    repetitions: tuple[Span, ...]


@record
class CursorPoint:
    """How much of one shard, provider and repetition was handed out."""

    shard: int
    provider: int
    repetition: int
    next: int
    ended: bool


@record
class Entry:
    """What a small table holds for a number."""

    key: int
    value: int


@record
class RestoreIteration:
    iteration_id: int
    cursors: tuple[CursorPoint, ...]
    released: bool
    ended_shards: tuple[int, ...]
    lost_tasks: int
    lost_shards: int
    leased_again: int
    given_up: int = 0
    repeated: int = 0
    dealt: tuple[Entry, ...] = ()
    ended: tuple[Entry, ...] = ()
    begun: tuple[Entry, ...] = ()
    totals: tuple[Entry, ...] = ()


@record
class RestoreLane:
    lane_id: int
    shard: int
    index: int
    attempt: int
    taken: int
    leases: tuple[Lease, ...]
    checkpoints: tuple[Checkpoint, ...]


Update = (
    RegisterDataset
    | DecideCompression
    | RegisterWorker
    | RefreshWorker
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
    | FinishIteration
    | GiveUpShard
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
    | ReserveIds
    | RestoreNonces
    | RestoreFinished
    | RestoreIteration
    | RestoreLane
    | SnapshotUpdate
)
