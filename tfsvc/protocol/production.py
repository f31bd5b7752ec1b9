"""What a worker asks of a pipeline, and what a pipeline gives back. Elements stay opaque here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tfsvc.errors import RpcError
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import DatasetDef, ShardingPolicy, TaskDef
from tfsvc.protocol.splits import Checkpoint, SplitPosition


class Encoding(Enum):
    """How the bodies of a pipeline's frames are laid out."""

    FRAMES = "frames"
    """Columnar frames for our own clients."""

    ELEMENTS = "elements"
    """One TensorFlow ``GetElementResponse`` body a frame, each of one element."""


@dataclass(frozen=True, slots=True)
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
      dealt: whether it is an ordered lane, which can start again wherever it is hungry.
      policy: whether the dataset is divided beforehand, and how.
      num_workers: among how many workers.
      worker_index: whose share it is.
    """

    dataset: DatasetDef
    dataset_id: str
    providers: int = 0
    checkpoint: Checkpoint = Checkpoint()
    encoding: Encoding = Encoding.FRAMES
    compressed: bool = False
    seed: int = 0
    dealt: bool = False
    policy: ShardingPolicy = ShardingPolicy.OFF
    num_workers: int = 0
    worker_index: int = 0

    @classmethod
    def of(cls, task: TaskDef, stream: str) -> Recipe:
        """What a task says of it; ``stream`` labels the luck of what is read apart from others."""
        definition, policy = task.dataset_def, task.processing_mode_def.sharding_policy
        assert definition is not None, "a task of ours carries its dataset"
        return cls(
            definition,
            task.dataset_id,
            seed=Luck(task.seed, "shards" if policy.static else stream).bits(),
            policy=policy,
            num_workers=task.num_workers,
            worker_index=task.worker_index,
        )


@dataclass(frozen=True, slots=True)
class Ready:
    """The pipeline can go on at once."""


@dataclass(frozen=True, slots=True)
class Hungry:
    """The pipeline waits for splits of ``provider`` from position ``at`` on."""

    provider: int
    at: SplitPosition


@dataclass(frozen=True, slots=True)
class Ended:
    """The pipeline has given its last element."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The pipeline cannot start or go on; readers get ``error``."""

    error: RpcError


@dataclass(frozen=True, slots=True)
class Production:
    """The outcome of one ``Produce``.

    Attributes:
      frames: new elements in order.
      status: whether and how the pipeline goes on.
      positions: how far each provider has been read.
      checkpoint: a place to start again, when one was cheap to take.
      spent_ns: time the pipeline worked, 0 where it is not measured.
    """

    frames: tuple[Frame, ...]
    status: Ready | Hungry | Ended | Broken
    positions: tuple[SplitPosition, ...] = ()
    checkpoint: Checkpoint | None = None
    spent_ns: int = 0
