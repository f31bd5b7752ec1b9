"""*Ours*: the picture of a whole cluster that its dispatcher gives to people and their tools.

It is made for ``dataclasses.asdict`` and JSON: numbers, words and rows of them, never a split or an element. Times are
nanoseconds before the moment of the answer, since no clock of a machine means anything elsewhere.
"""

from __future__ import annotations

from typing import Final

from tfsvc.record import record

ROWS_MAX: Final = 2000
"""How many rows of each kind there are at the most, where nothing else is asked for."""
COUNT_MAX: Final = (1 << 63) - 1
"""The largest number that a message can say."""


@record
class DescribeServiceRequest:
    """What the cluster looks like now; ``rows_max``: how many rows of each kind at the most, 0 for ``ROWS_MAX``."""

    rows_max: int = 0


@record
class Census:
    """How many there are of each kind, whether or not they all have a row. Lanes are those that are not done."""

    workers: int = 0
    datasets: int = 0
    jobs: int = 0
    iterations: int = 0
    tasks: int = 0
    lanes: int = 0
    readers: int = 0
    snapshots: int = 0


@record
class Tally:
    """What happened in this life of the dispatcher; all of it only grows.

    Attributes:
      leases: how many groups of splits were leased to lanes and streams of snapshots.
      splits: how many splits these were.
      moves: how often a lane or a stream went to another worker or reader, or began a new attempt.
      splits_again: how many splits those took along that moved: what is computed again, at the most.
      workers_lost: how many lives of workers were given up.
      readers_lost: how many readers were given up since they were silent.
      elements: how many elements the readers of ours have taken, those that are gone included.
      bytes: how many bytes of frames that was.
      discarded: how many elements came again to a reader and were passed over.
      missed: how many elements had left the trainers' cache before their reader came.
      waited_ns: how long the applications of all readers have waited for elements.
    """

    leases: int = 0
    splits: int = 0
    moves: int = 0
    splits_again: int = 0
    workers_lost: int = 0
    readers_lost: int = 0
    elements: int = 0
    bytes: int = 0
    discarded: int = 0
    missed: int = 0
    waited_ns: int = 0


@record
class TransferServer:
    """A way to fetch elements from a worker: ``"grpc"`` is TensorFlow's, ``"tfsvc"`` ours."""

    protocol: str = ""
    address: str = ""


@record
class WorkerDescription:
    """A worker that is not given up.

    Attributes:
      state: ``"live"``, ``"silent"`` (it missed its heartbeats, its lanes went to others), ``"draining"`` or
        ``"leaving"``.
      native: whether it is tfsvc's, and not TensorFlow's.
      silent_ns: how long ago it was heard; ``None`` if never in this life of the dispatcher.
      interval_ns: how often it is to be heard.
      tasks: how many unfinished tasks it has.
      lanes: how many lanes it runs.
      leased: how many splits these hold.
    """

    address: str = ""
    incarnation: int = 0
    native: bool = False
    state: str = ""
    tags: tuple[str, ...] = ()
    transfer_servers: tuple[TransferServer, ...] = ()
    silent_ns: int | None = None
    interval_ns: int = 0
    tasks: int = 0
    lanes: int = 0
    leased: int = 0


@record
class DatasetDescription:
    """A registered dataset.

    Attributes:
      cardinality: how many elements it has; -1: without end, -2: not known.
      splits: how many splits all its sources have together; ``None`` without end, or where it cannot be split.
      operators: the dataset in words, one operator a line; empty for TensorFlow's.
    """

    id: str = ""
    native: bool = False
    cardinality: int = 0
    sources: int = 0
    splits: int | None = None
    operators: str = ""


@record
class JobDescription:
    """A job.

    Attributes:
      anonymous: whether it was given no name, so that it has one reader alone.
      sharding_policy: ``"OFF"``, ``"DYNAMIC"``, ``"FILE"``, ``"DATA"``, ``"FILE_OR_DATA"`` or ``"HINT"``.
      mode: ``"independent"``, ``"ordered"`` (``deterministic=True``), ``"coordinated"`` (rounds) or ``"cached"``
        (shared by trainers).
      delivery: ``"EXACTLY_ONCE"``, ``"AT_MOST_ONCE"`` or ``"AT_LEAST_ONCE"``.
      num_consumers: among how many consumers it is divided, where that is so.
      finished: how many repetitions were read to their end.
    """

    id: int = 0
    name: str = ""
    anonymous: bool = False
    dataset_id: str = ""
    sharding_policy: str = ""
    mode: str = ""
    delivery: str = ""
    target_workers: str = ""
    num_consumers: int | None = None
    finished: int = 0


@record
class IterationDescription:
    """A pass over a dataset that is open.

    Attributes:
      repetition: the how-many-th of its job, from 0.
      finished: whether it has no more elements for anybody.
      lanes: how many are not done.
      splits: how many splits were handed out, over all sources, repetitions and shards.
      splits_again: how many of them went to another worker, since theirs was lost.
      splits_given_up: how many nobody gets, since their worker was lost and the job delivers at most once.
      repeated: how many elements came again, since the job delivers at least once.
      recommended: how many workers would keep its readers busy; ``None`` until both have told their speed.
      processing_time_nsec: how long a worker takes for an element; 0 if none has told.
      target_processing_time_nsec: between which two elements its readers would never wait; 0 if none has told.
    """

    id: int = 0
    job_id: int = 0
    repetition: int = 0
    finished: bool = False
    readers: int = 0
    tasks: int = 0
    tasks_lost: int = 0
    shards: int = 0
    shards_lost: int = 0
    lanes: int = 0
    splits: int = 0
    splits_again: int = 0
    splits_given_up: int = 0
    repeated: int = 0
    recommended: int | None = None
    processing_time_nsec: float = 0.0
    target_processing_time_nsec: float = 0.0


@record
class TaskDescription:
    """A worker's part in an iteration.

    Attributes:
      state: ``"pending"`` (consumers have still to agree on its first round), ``"running"``, ``"finished"`` or
        ``"lost"``.
      processing_time_nsec: how long its worker says that an element takes; 0 if it has not.
    """

    id: int = 0
    iteration_id: int = 0
    worker_address: str = ""
    shard: int = 0
    state: str = ""
    processing_time_nsec: float = 0.0


@record
class LaneDescription:
    """One reader's stream from one worker.

    Attributes:
      worker_address: empty as long as there is no worker for it.
      index: its number, where lanes are dealt beforehand.
      attempt: the how-many-th worker or reader it is with, from 1.
      taken: how many elements its reader has said to have taken.
      leased: how many splits it holds behind its oldest checkpoint.
    """

    id: int = 0
    iteration_id: int = 0
    task_id: int = 0
    reader_id: int = 0
    worker_address: str = ""
    index: int = 0
    shard: int = 0
    attempt: int = 0
    taken: int = 0
    leased: int = 0


@record
class Consumption:
    """What a reader tells of itself; all of it only grows.

    Attributes:
      elements: how many its application has taken.
      bytes: the size of their frames.
      waited_ns: how long the application has waited for elements: exposed waiting time, the present wait included.
      age_ns: how long ago it asked for its first element.
      discarded: how many elements came again, since work had moved or a read was repeated, and were passed over.
      missed: how many had left the trainers' cache before it came to them.
    """

    elements: int = 0
    bytes: int = 0
    waited_ns: int = 0
    age_ns: int = 0
    discarded: int = 0
    missed: int = 0

    def __add__(self, other: Consumption) -> Consumption:
        """Both together, within what a message can say: readers may tell anything."""
        # Spelt out, since every heartbeat of a reader brings one.
        return Consumption(
            _within(self.elements + other.elements),
            _within(self.bytes + other.bytes),
            _within(self.waited_ns + other.waited_ns),
            _within(self.age_ns + other.age_ns),
            _within(self.discarded + other.discarded),
            _within(self.missed + other.missed),
        )


def _within(count: int) -> int:
    return min(max(0, count), COUNT_MAX)


@record
class ReaderDescription:
    """A reader of an iteration: a consumer.

    Attributes:
      native: whether it is tfsvc's; ``None`` until it was heard for the first time.
      silent_ns: how long ago it was heard; ``None`` if never in this life of the dispatcher.
      consumer_index: which of an ordered job's consumers it is.
      lanes: how many it has.
      consumption: as it last said, with its heartbeat; ``None`` from TensorFlow's.
      round: the last round it was in, of coordinated reads.
      at_end: whether it was told that there is nothing more for it.
      target_processing_time_nsec: between which two elements it would never wait; 0 if it has not said.
    """

    id: int = 0
    iteration_id: int = 0
    native: bool | None = None
    silent_ns: int | None = None
    consumer_index: int = 0
    lanes: int = 0
    consumption: Consumption | None = None
    round: int | None = None
    at_end: bool = False
    target_processing_time_nsec: float = 0.0


@record
class SnapshotDescription:
    """A distributed snapshot.

    Attributes:
      state: ``"creating"``, ``"writing"``, ``"closing"``, ``"done"`` or ``"failed"``.
      error: why it has failed.
      streams: how many there are; ``streams_done``: how many have ended.
      chunks: how many are part of it; ``elements``: how many elements these hold.
      splits: how many splits were handed out; ``splits_total``: of how many, ``None`` without end.
    """

    path: str = ""
    state: str = ""
    error: str = ""
    streams: int = 0
    streams_done: int = 0
    chunks: int = 0
    elements: int = 0
    splits: int = 0
    splits_total: int | None = None


@record
class Description:
    """A cluster at one moment.

    Attributes:
      incarnation: which life of the dispatcher answers.
      up_ns: how long it has been up.
      stopping: whether the whole service ends.
      deployment_mode: ``"COLOCATED"``, ``"REMOTE"`` or ``"HYBRID"``.
      recommended_workers: how many would keep all readers busy; ``None`` until that is known.
      census: how many there are of each kind. Fewer rows mean that the rest was left out: tasks that are over first,
        then the newest.
      tally: what happened in this life of the dispatcher.
      workers: a row for each worker that is not given up.
      datasets: a row for each registered dataset.
      jobs: a row for each job.
      iterations: a row for each pass over a job.
      tasks: a row for each worker's part in an iteration.
      lanes: a row for each stream from a worker to a reader.
      readers: a row for each reader.
      snapshots: a row for each distributed snapshot.
    """

    incarnation: int = 0
    up_ns: int = 0
    stopping: bool = False
    deployment_mode: str = ""
    recommended_workers: int | None = None
    census: Census = Census()
    tally: Tally = Tally()
    workers: tuple[WorkerDescription, ...] = ()
    datasets: tuple[DatasetDescription, ...] = ()
    jobs: tuple[JobDescription, ...] = ()
    iterations: tuple[IterationDescription, ...] = ()
    tasks: tuple[TaskDescription, ...] = ()
    lanes: tuple[LaneDescription, ...] = ()
    readers: tuple[ReaderDescription, ...] = ()
    snapshots: tuple[SnapshotDescription, ...] = ()


@record
class DescribeServiceResponse:
    description: Description = Description()
