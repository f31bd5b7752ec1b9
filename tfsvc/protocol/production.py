"""What a worker asks of a pipeline, and what a pipeline gives back. Elements stay opaque here."""

from __future__ import annotations

from enum import Enum

from tfsvc.errors import RpcError
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import DatasetDef, ShardingPolicy, TaskDef
from tfsvc.protocol.splits import Checkpoint, SplitPosition
from tfsvc.record import record


class Encoding(Enum):
    """How the bodies of a pipeline's frames are laid out."""

    FRAMES = "frames"
    """Columnar frames for our own clients."""

    ELEMENTS = "elements"
    """One TensorFlow ``GetElementResponse`` body a frame, each of one element."""


@record
class Sink:
    """Where a pipeline writes its elements instead of giving them: a stream of a distributed snapshot.

    Attributes:
      path: the snapshot's directory.
      attempt: tells the files of this writer from those of another that may still be at it.
      chunk: how many chunks the stream has.
      saved_by: the attempt that wrote the last of them, beside which the pipeline's state lies.
      compression: of the chunks.
      chunk_bytes: a chunk ends when its elements take this much.
      chunk_ns: or when it was begun this long ago, where time is measured.
    """

    path: str
    stream: int
    attempt: int
    chunk: int
    saved_by: int
    compression: str
    chunk_bytes: int
    chunk_ns: int


@record
class Chunk:
    """Elements that are whole on the disk, and a place to go on behind them, whose state lies there too."""

    elements: int
    checkpoint: Checkpoint


@record
class Recipe:
    """All that a pipeline needs to start.

    Attributes:
      dataset: what to run.
      dataset_id: its name, for messages to people.
      providers: how many split providers feed it; 0 runs the dataset whole.
      checkpoint: where to start.
      encoding: how frames are laid out.
      compressed: whether TensorFlow elements are sent as ``CompressedElement``.
      seed: of the luck of unseeded shuffles; the same for every attempt of a lane, and for all workers where sharding
        is static, since each takes its share of the same order.
      shared_seed: of the luck that belongs to elements; the same for the whole iteration.
      epoch: how many iterations of the job came before this one.
      dealt: whether it is an ordered lane, which can start again wherever it is hungry.
      policy: whether the dataset is divided beforehand, and how.
      num_workers: among how many workers.
      worker_index: whose share it is.
      sink: where elements are written; ``None`` when they are given.
    """

    dataset: DatasetDef
    dataset_id: str
    providers: int = 0
    checkpoint: Checkpoint = Checkpoint()
    encoding: Encoding = Encoding.FRAMES
    compressed: bool = False
    seed: int = 0
    shared_seed: int = 0
    epoch: int = 0
    dealt: bool = False
    policy: ShardingPolicy = ShardingPolicy.OFF
    num_workers: int = 0
    worker_index: int = 0
    sink: Sink | None = None

    @classmethod
    def of(cls, task: TaskDef, stream: str) -> Recipe:
        """What a task says of it; ``stream`` labels the luck of what is read apart from others."""
        definition, policy = task.dataset_def, task.processing_mode_def.sharding_policy
        assert definition is not None, "a task of ours carries its dataset"
        return cls(
            definition,
            task.dataset_id,
            seed=Luck(task.seed, "shards" if policy.static else stream).bits(),
            shared_seed=task.seed,
            epoch=task.repetition,
            policy=policy,
            num_workers=task.num_workers,
            worker_index=task.worker_index,
        )


@record
class Ready:
    """The pipeline can go on at once."""


@record
class Hungry:
    """The pipeline waits for splits of ``provider`` from position ``at`` on."""

    provider: int
    at: SplitPosition


@record
class Ended:
    """The pipeline has given its last element."""


@record
class Broken:
    """The pipeline cannot start or go on; readers get ``error``."""

    error: RpcError


@record
class Production:
    """The outcome of one ``Produce``.

    Attributes:
      frames: new elements in order.
      status: whether and how the pipeline goes on.
      positions: how far each provider has been read.
      checkpoint: a place to start again, when one was cheap to take.
      spent_ns: time the pipeline worked, 0 where it is not measured.
      written: how many elements went to the pipeline's sink.
      chunk: what ended there. At the end of the pipeline there is always one, which may hold nothing.
    """

    frames: tuple[Frame, ...]
    status: Ready | Hungry | Ended | Broken
    positions: tuple[SplitPosition, ...] = ()
    checkpoint: Checkpoint | None = None
    spent_ns: int = 0
    written: int = 0
    chunk: Chunk | None = None
