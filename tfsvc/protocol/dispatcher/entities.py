"""What a dispatcher knows of: datasets, workers, jobs, iterations, tasks and lanes, as its state holds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tfsvc.protocol.messages import (
    Compression,
    DataServiceMetadata,
    DatasetDef,
    DataTransferServerInfo,
    Delivery,
    OrderDef,
    ShardingPolicy,
    TargetWorkers,
)
from tfsvc.protocol.splits import Checkpoint, Lease, Span

WORDS_MAX: Final = 200
"""So much of a dataset is told in a warning."""


@dataclass(slots=True)
class Dataset:
    id: str
    definition: DatasetDef
    metadata: DataServiceMetadata
    compression_disabled: bool | None = None

    @property
    def compressed(self) -> bool:
        """Whether TensorFlow's readers expect its elements as ``CompressedElement``."""
        wanted = self.metadata.compression in (Compression.SNAPPY, Compression.FORCED_SNAPPY)
        return wanted and not self.compression_disabled

    def looks_like(self, other: Dataset) -> bool:
        """Whether both may be the same pipeline, which each of its readers has registered."""
        mine, its = self.metadata, other.metadata
        told = (mine.description, its.description), (mine.element_spec, its.element_spec)
        return mine.cardinality == its.cardinality and all(a == b for a, b in told if a and b)

    @property
    def words(self) -> str:
        """Its id, and what it is as far as that is known."""
        told = " -> ".join(self.metadata.description.splitlines()) or f"of cardinality {self.metadata.cardinality}"
        return f"{self.id} ({told if len(told) <= WORDS_MAX else told[:WORDS_MAX] + '...'})"


@dataclass(slots=True)
class Worker:
    address: str
    incarnation: int
    transfer_servers: tuple[DataTransferServerInfo, ...]
    tags: tuple[str, ...]
    uid: int
    index: int | None = None
    """Its place among the configured workers."""
    interval_ns: int = 0
    """How often it means to be heard."""
    tasks: dict[int, None] = field(default_factory=dict)
    """Its unfinished tasks, in order of creation."""

    @property
    def native(self) -> bool:
        """Whether it is one of ours, and not TensorFlow's."""
        return self.incarnation != 0


def unnamed(job_id: int) -> str:
    """How the name begins that the dispatcher gives to a job without one."""
    return f"anonymous_job_{job_id}_"


@dataclass(slots=True)
class Job:
    id: int
    name: str
    dataset_id: str
    policy: ShardingPolicy
    num_consumers: int | None
    use_cross_trainer_cache: bool
    target_workers: TargetWorkers
    order: OrderDef = OrderDef()
    delivery: Delivery = Delivery.EXACTLY_ONCE
    iterations: dict[int, int] = field(default_factory=dict)
    """Ids of its open iterations by repetition."""
    finished: tuple[Span, ...] = ()
    """Repetitions that were read to their end."""

    @property
    def anonymous(self) -> bool:
        """Whether it was given no name, so that nobody but its first reader can find it."""
        return self.name.startswith(unnamed(self.id))

    @property
    def label(self) -> str:
        """Its name for people; empty for one that was given none."""
        return "" if self.anonymous else self.name

    @property
    def coordinated(self) -> bool:
        """Whether its readers read in rounds, each from one worker at the same time."""
        return self.num_consumers is not None and not self.order.lanes

    @property
    def has_lanes(self) -> bool:
        """Whether each reader of ours has its elements in lanes; in rounds and from a cache several read the same."""
        return self.policy.has_lanes and not self.coordinated and not self.use_cross_trainer_cache

    @property
    def consumers(self) -> int:
        """Among how many consumers the lanes of an ordered job are divided."""
        return self.num_consumers or 1

    def consumer_of(self, index: int) -> int:
        """Whose an ordered lane is."""
        return index % self.consumers


@dataclass(slots=True)
class Cursor:
    """How much of one provider and repetition was handed out."""

    next: int = 0
    ended: bool = False


@dataclass(slots=True)
class Lane:
    """One reader's stream of elements from one worker: an ordered list of splits run by one pipeline.

    The same splits from the same checkpoint give the same elements, so a lane moves to another worker
    by being run again there from the newest checkpoint that the reader's progress covers. An ordered lane
    has a number, by which it is dealt its splits, and no leases.
    """

    id: int
    iteration_id: int
    task_id: int
    client_id: int
    shard: int = 0
    index: int = 0
    attempt: int = 1
    taken: int = 0
    done: bool = False
    leases: dict[tuple[int, int], Lease] = field(default_factory=dict)
    """Per provider and repetition: what was leased behind the oldest checkpoint."""
    checkpoints: list[Checkpoint] = field(default_factory=lambda: [Checkpoint()])
    """In order; only the first may lie before what the reader has taken."""

    @property
    def held(self) -> int:
        """How many splits it holds behind its oldest checkpoint."""
        return sum([lease.size for lease in self.leases.values()])

    def leased_to(self, provider: int, repetition: int) -> int:
        """The lane's position behind the last split of a repetition that it was given."""
        lease = self.leases.get((provider, repetition))
        return 0 if lease is None else lease.end


@dataclass(slots=True)
class Task:
    id: int
    iteration_id: int
    worker_address: str
    shard: int = 0
    """Which part of the data it has, where sharding is static."""
    finished: bool = False
    lost: bool = False
    pending: bool = False
    """Whether the readers of coordinated rounds have still to agree on its first round."""
    starting_round: int = 0


@dataclass(slots=True)
class Iteration:
    id: int
    job_id: int
    repetition: int
    seed: int
    shards: int = 1
    tasks: dict[int, None] = field(default_factory=dict)
    clients: dict[int, int] = field(default_factory=dict)
    """Its readers, and which of an ordered job's consumers each is."""
    lanes: dict[int, None] = field(default_factory=dict)
    """Its lanes that are not done."""
    dealt: dict[int, int] = field(default_factory=dict)
    """The lanes of an ordered job by their number, whether done or not."""
    ended: dict[int, int] = field(default_factory=dict)
    """How many elements each of these had that is done."""
    begun: dict[int, int] = field(default_factory=dict)
    """How many elements each consumer had taken elsewhere when its lanes were dealt first."""
    totals: dict[int, int] = field(default_factory=dict)
    """How many elements each consumer has in all, as far as it is known."""
    cursors: dict[tuple[int, int, int], Cursor] = field(default_factory=dict)
    """By shard, provider and repetition."""
    released: bool = False
    """Whether a reader ever left."""
    ended_shards: dict[int, None] = field(default_factory=dict)
    """The shards whose end some pipeline met, or that were given up."""
    finished: bool = False
    """Whether it was read to its end before it was opened again."""
    lost_tasks: int = 0
    lost_shards: int = 0
    leased_again: int = 0
    """Splits that a lane took along when it moved."""
    given_up: int = 0
    """Splits whose elements nobody gets any more, or not all of them."""
    repeated: int = 0
    """Elements that came again."""

    @property
    def exhausted(self) -> bool:
        """Whether the end of the data was met, in every shard."""
        return len(self.ended_shards) >= self.shards
