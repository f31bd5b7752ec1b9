"""What the messages of both services are made of."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from tfsvc.protocol.splits import Checkpoint, SplitPlan
from tfsvc.record import record

VERSION: Final = 9
"""The version of the data service protocol; TensorFlow's peers insist on it."""


class ShardingPolicy(IntEnum):
    """How the input of a job is divided among the workers.

    ``OFF``: every worker reads the whole dataset. ``DYNAMIC``: splits are handed out to whoever asks,
    each once. The others shard by a worker's place in ``DispatcherConfig.worker_addresses``: ``FILE`` every so-many-th
    file, ``DATA`` every so-many-th element, ``FILE_OR_DATA`` the first of these that the dataset allows, ``HINT`` where
    it says ``shard(SHARD_HINT, 0)``.
    """

    OFF = 0
    DYNAMIC = 1
    FILE = 2
    DATA = 3
    FILE_OR_DATA = 4
    HINT = 5

    @property
    def static(self) -> bool:
        """Whether each worker's share is fixed by its place among the workers."""
        return self > ShardingPolicy.DYNAMIC

    @property
    def has_lanes(self) -> bool:
        """Whether our workers give each reader its elements in lanes, which survive the worker."""
        return self is not ShardingPolicy.OFF


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


@record
class DatasetDef:
    """A dataset as it was registered.

    Attributes:
      graph: TensorFlow's serialized ``GraphDef``; empty for a dataset of ours.
      program: *ours*: our serialized operator graph; empty for a dataset of TensorFlow's.
      plans: *ours*: its split providers.
      unsplittable: *ours*: why DYNAMIC sharding is not possible; empty when it is.
      origins: *ours*: where the program's operators were made, for messages to people.
      compressed: *ours*: as ``TaskDef.compressed``, of a dataset that a dispatcher of TensorFlow's keeps for us.
    """

    graph: bytes = b""
    program: bytes = b""
    plans: tuple[SplitPlan, ...] = ()
    unsplittable: str = ""
    origins: tuple[str, ...] = ()
    compressed: bool = False


@record
class ProcessingModeDef:
    sharding_policy: ShardingPolicy = ShardingPolicy.OFF


class Delivery(IntEnum):
    """*Ours*: how often an element of a DYNAMIC job comes whose worker was lost.

    ``AT_MOST_ONCE``: what the worker still had of its splits is given up, as in TensorFlow. ``AT_LEAST_ONCE``: whatever
    came behind its last checkpoint comes again.
    """

    EXACTLY_ONCE = 0
    AT_MOST_ONCE = 1
    AT_LEAST_ONCE = 2


class Remainder(IntEnum):
    """*Ours*: what becomes of the elements that some consumers of an ordered job have more of than others.

    ``KEEP``: each gets what it has. ``DROP``: all stop where the first has no more. ``PAD`` and ``WRAP``: those that
    have no more are given empty elements, or their own from the beginning, until the last has no more.
    """

    KEEP = 0
    DROP = 1
    PAD = 2
    WRAP = 3


@record
class OrderDef:
    """*Ours*: the order of a DYNAMIC job, whose input is dealt to ``lanes`` lanes beforehand.

    Attributes:
      lanes: how many; 0 where workers lease splits as they go, and elements come as soon as they can.
      block: how many splits in a row a lane is dealt at the most.
      seed: of the luck of every epoch.
      remainder: whether all consumers get the same number of elements.
    """

    lanes: int = 0
    block: int = 1
    seed: int = 0
    remainder: Remainder = Remainder.KEEP


@record
class DataServiceMetadata:
    """What a reader must know of a dataset; ``element_spec`` is a serialized ``StructuredValue``.

    Attributes:
      description: *ours*: the dataset in words, one operator a line, by which a resume token knows it again.
      block: *ours*: ``OrderDef.block``, where it is read in order.
    """

    element_spec: bytes | None = None
    compression: Compression = Compression.UNSPECIFIED
    cardinality: int = 0
    description: str = ""
    block: int = 1


@record
class DataServiceConfig:
    deployment_mode: DeploymentMode = DeploymentMode.UNSPECIFIED


@record
class DataTransferServerInfo:
    """A way to fetch elements from a worker: ``"grpc"`` is ``GetElement``, ``"tfsvc"`` is ``GetFrames``."""

    protocol: str = ""
    address: str = ""
    compatibility_info: bytes = b""
    fall_back_to_grpc_at_client_creation_time: bool = False
    fall_back_to_grpc_at_get_element_time: bool = False


def native_address(servers: tuple[DataTransferServerInfo, ...]) -> str | None:
    """Where our readers fetch frames; ``None`` from a worker that is not ours."""
    for server in servers:
        if server.protocol == "tfsvc":
            return server.address
    return None


@record
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
    repetition: int = 0
    """*Ours*: how many iterations of the job came before."""
    endless: bool = False
    """*Ours*: whether it has no end of its own, so that a worker that leaves may end its part of it anywhere."""


@record
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
    lost: bool = False
    """*Ours*: whether it was lost, as far as the dispatcher knows before it had given all."""


@record
class LaneInfo:
    """*Ours*: where a reader finds one of its lanes, and which life of the lane counts."""

    lane_id: int = 0
    attempt: int = 0
    task_id: int = 0
    worker_address: str = ""
    ordinal: int = 0
    """The first element that was still to be taken when the reader was given this attempt."""
    index: int = 0
    """Its number among the lanes of an ordered job."""
    again: bool = False
    """Whether a new attempt begins at ``ordinal`` even if the reader has more already."""


@record
class LaneProgress:
    """*Ours*: the application has taken the lane's elements before ``ordinal``; ``done``: there are no more.

    ``checkpoint``: of an ordered lane, the newest place before ``ordinal`` where it can start again.
    """

    lane_id: int = 0
    ordinal: int = 0
    done: bool = False
    checkpoint: Checkpoint | None = None


@record
class LanePlace:
    """*Ours*: where an ordered lane is to go on: behind ``ordinal`` elements, made from ``checkpoint`` on."""

    index: int = 0
    ordinal: int = 0
    checkpoint: Checkpoint = Checkpoint()


@record
class Level:
    """*Ours*: how far a consumer may go that must get as many elements as the others.

    Attributes:
      taken: what it had taken when it came.
      reach: how many elements it may hand out in all, made up ones included.
      final: how many there are for everybody, once that is known.
      waits_for: the consumers that keep ``reach`` where it is.
    """

    taken: int = 0
    reach: int = 0
    final: int | None = None
    waits_for: tuple[int, ...] = ()


@record
class LaneComplaint:
    """*Ours*: a reader cannot get on with this life of a lane.

    ``refused``: the worker answered, but does not have it.
    """

    lane_id: int = 0
    attempt: int = 0
    reason: str = ""
    refused: bool = False
