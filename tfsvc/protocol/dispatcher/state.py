"""All that a dispatcher must remember through a restart: a fold over its updates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from tfsvc.protocol import snapshot_updates as s
from tfsvc.protocol import updates as u
from tfsvc.protocol.dispatcher.snapshot_state import Snapshots
from tfsvc.protocol.messages import (
    Compression,
    DataServiceMetadata,
    DatasetDef,
    DataTransferServerInfo,
    Delivery,
    LanePlace,
    OrderDef,
    ShardingPolicy,
    TargetWorkers,
)
from tfsvc.protocol.splits import Checkpoint, Lease, cut, extended


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


@dataclass(slots=True)
class Worker:
    address: str
    incarnation: int
    transfer_servers: tuple[DataTransferServerInfo, ...]
    tags: tuple[str, ...]
    uid: int
    interval_ns: int = 0
    lost: bool = False
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
    """Iteration ids by repetition."""

    @property
    def anonymous(self) -> bool:
        """Whether it was given no name, so that nobody but its first reader can find it."""
        return self.name.startswith(unnamed(self.id))

    @property
    def coordinated(self) -> bool:
        """Whether its readers read in rounds, each from one worker at the same time."""
        return self.num_consumers is not None and not self.order.lanes

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
        return sum(lease.size for lease in self.leases.values())

    def leased_to(self, provider: int, repetition: int) -> int:
        """The lane's position behind the last split of a repetition that it was given."""
        lease = self.leases.get((provider, repetition))
        return 0 if lease is None else lease.end


@dataclass(slots=True)
class Task:
    id: int
    iteration_id: int
    worker_address: str
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
    cursors: dict[tuple[int, int], Cursor] = field(default_factory=dict)
    """By provider and repetition."""
    released: bool = False
    """Whether a reader ever left."""
    exhausted: bool = False
    """Whether some pipeline met the end of the data."""
    collected: bool = False
    lost_tasks: int = 0
    leased_again: int = 0
    """Splits that a lane took along when it moved."""
    given_up: int = 0
    """Splits whose elements nobody gets any more, or not all of them."""
    repeated: int = 0
    """Elements that came again."""


@dataclass(slots=True)
class DispatcherState:
    datasets: dict[str, Dataset] = field(default_factory=dict)
    workers: dict[str, Worker] = field(default_factory=dict)
    jobs: dict[int, Job] = field(default_factory=dict)
    jobs_by_name: dict[str, int] = field(default_factory=dict)
    iterations: dict[int, Iteration] = field(default_factory=dict)
    clients: dict[int, int] = field(default_factory=dict)
    """Iteration ids by reader."""
    tasks: dict[int, Task] = field(default_factory=dict)
    lanes: dict[int, Lane] = field(default_factory=dict)
    nonces: dict[str, int] = field(default_factory=dict)
    """What a call with this nonce made."""
    snapshots: Snapshots = field(default_factory=Snapshots)
    next_dataset_id: int = 1000
    next_iteration_id: int = 2000
    next_client_id: int = 3000
    next_task_id: int = 4000
    next_job_id: int = 5000
    next_lane_id: int = 6000

    def job_of(self, iteration: Iteration) -> Job:
        return self.jobs[iteration.job_id]

    def apply(self, update: u.Update) -> None:
        """Makes one fact true; the only method that changes the state."""
        match update:
            case u.RegisterDataset(dataset_id, definition, metadata):
                self.datasets[dataset_id] = Dataset(dataset_id, definition, metadata)
                if dataset_id.isdecimal():
                    self.next_dataset_id = max(self.next_dataset_id, int(dataset_id) + 1)
            case u.DecideCompression(dataset_id, disabled):
                self.datasets[dataset_id].compression_disabled = disabled
            case u.RegisterWorker(address, incarnation, transfer_servers, tags, uid, interval_ns):
                self.workers[address] = Worker(address, incarnation, transfer_servers, tags, uid, interval_ns)
            case u.LoseWorker(address):
                self.workers[address].lost = True
            case u.CreateJob():
                self._create_job(update)
            case u.CreateIteration(iteration_id, job_id, repetition, seed):
                self.iterations[iteration_id] = Iteration(iteration_id, job_id, repetition, seed)
                self.jobs[job_id].iterations[repetition] = iteration_id
                self.next_iteration_id = iteration_id + 1
            case u.AcquireClient(iteration_id, client_id, nonce, consumer_index):
                self.clients[client_id] = iteration_id
                self.iterations[iteration_id].clients[client_id] = consumer_index
                self.next_client_id = client_id + 1
                self._remember(nonce, client_id)
            case u.ReleaseClient(client_id):
                iteration = self.iterations[self.clients.pop(client_id)]
                del iteration.clients[client_id]
                iteration.released = True
            case u.CreateTask(task_id, iteration_id, worker_address, pending):
                self.tasks[task_id] = Task(task_id, iteration_id, worker_address, pending=pending)
                self.iterations[iteration_id].tasks[task_id] = None
                self.workers[worker_address].tasks[task_id] = None
                self.next_task_id = task_id + 1
            case u.PromoteTask(task_id, starting_round):
                task = self.tasks[task_id]
                task.pending, task.starting_round = False, starting_round
            case u.RemoveTask(task_id):
                task = self.tasks.pop(task_id)
                self.workers[task.worker_address].tasks.pop(task_id, None)
                del self.iterations[task.iteration_id].tasks[task_id]
            case u.FinishTask(task_id, lost):
                self._finish_task(self.tasks[task_id], lost)
            case u.CollectIteration(iteration_id):
                self._collect(self.iterations[iteration_id])
            case u.ProduceSplit(iteration_id, provider, repetition, finished):
                iteration = self.iterations[iteration_id]
                cursor = iteration.cursors.setdefault((provider, repetition), Cursor())
                if finished:
                    cursor.ended = True
                else:
                    cursor.next += 1
            case u.OpenLane(lane_id, iteration_id, task_id, client_id):
                self.lanes[lane_id] = Lane(lane_id, iteration_id, task_id, client_id)
                self.iterations[iteration_id].lanes[lane_id] = None
                self.next_lane_id = lane_id + 1
            case u.DealLane(lane_id, iteration_id, place):
                self._deal(lane_id, self.iterations[iteration_id], place)
            case u.CountConsumer(iteration_id, consumer, total):
                self.iterations[iteration_id].totals[consumer] = total
            case u.LeaseSplits(lane_id, lease):
                self._lease(self.lanes[lane_id], lease)
            case u.MoveLane(lane_id, attempt, task_id, client_id):
                lane = self.lanes[lane_id]
                self.iterations[lane.iteration_id].leased_again += lane.held
                lane.attempt, lane.task_id, lane.client_id = attempt, task_id, client_id
            case u.RepeatLane(lane_id, attempt, task_id, client_id):
                lane = self.lanes[lane_id]
                begin = lane.checkpoints[0].ordinal
                self.iterations[lane.iteration_id].repeated += lane.taken - begin
                lane.taken, lane.attempt, lane.task_id, lane.client_id = begin, attempt, task_id, client_id
            case u.DropLane(lane_id):
                lane = self.lanes.pop(lane_id)
                iteration = self.iterations[lane.iteration_id]
                iteration.given_up += lane.held
                del iteration.lanes[lane_id]
            case u.AdvanceLane(lane_id, ordinal, done, checkpoint):
                self._advance(self.lanes[lane_id], ordinal, done, checkpoint)
            case u.SaveCheckpoint(lane_id, checkpoint):
                lane = self.lanes[lane_id]
                lane.checkpoints.append(checkpoint)
                self._forget(lane)
            case s.OpenStream(lane_id=lane_id):
                self.snapshots.apply(update)
                self.next_lane_id = lane_id + 1
            case (
                s.RegisterSnapshot()
                | s.CreateSnapshot()
                | s.ForgetSnapshot()
                | s.MoveStream()
                | s.LeaseToStream()
                | s.CommitChunk()
                | s.GiveToStream()
                | s.FinishStream()
                | s.EndSnapshot()
                | s.CloseSnapshot()
            ):
                self.snapshots.apply(update)
            case _:
                assert_never(update)

    def _create_job(self, update: u.CreateJob) -> None:
        self.jobs[update.job_id] = Job(
            update.job_id,
            update.name,
            update.dataset_id,
            update.policy,
            update.num_consumers,
            update.use_cross_trainer_cache,
            update.target_workers,
            update.order,
            update.delivery,
        )
        self.jobs_by_name[update.name] = update.job_id
        self.next_job_id = update.job_id + 1
        self._remember(update.nonce, update.job_id)

    def _remember(self, nonce: str, made: int) -> None:
        if nonce:
            self.nonces[nonce] = made

    def _finish_task(self, task: Task, lost: bool) -> None:
        task.finished, task.lost = True, lost
        self.workers[task.worker_address].tasks.pop(task.id, None)
        iteration = self.iterations[task.iteration_id]
        if lost:
            iteration.lost_tasks += 1
        else:
            iteration.exhausted = True

    def _collect(self, iteration: Iteration) -> None:
        iteration.collected = True
        for task_id in iteration.tasks:
            task = self.tasks[task_id]
            task.finished = True
            self.workers[task.worker_address].tasks.pop(task_id, None)
        for lane_id in iteration.lanes:
            del self.lanes[lane_id]
        iteration.lanes.clear()

    def _deal(self, lane_id: int, iteration: Iteration, place: LanePlace) -> None:
        older = self.lanes.pop(iteration.dealt.get(place.index, 0), None)
        if older is not None:
            del iteration.lanes[older.id]
        if place.index not in iteration.dealt:
            consumer = self.job_of(iteration).consumer_of(place.index)
            iteration.begun[consumer] = iteration.begun.get(consumer, 0) + place.ordinal
        iteration.ended.pop(place.index, None)
        lane = Lane(lane_id, iteration.id, 0, 0, place.index, taken=place.ordinal, checkpoints=[place.checkpoint])
        self.lanes[lane_id] = lane
        iteration.lanes[lane_id] = None
        iteration.dealt[place.index] = lane_id
        # Which lanes there are is settled beforehand: nobody opens more.
        iteration.exhausted = True
        self.next_lane_id = lane_id + 1

    def _lease(self, lane: Lane, lease: Lease) -> None:
        key = lease.provider, lease.at.repetition
        lane.leases[key] = extended(lane.leases.get(key), lease)
        cursor = self.iterations[lane.iteration_id].cursors.setdefault(key, Cursor())
        cursor.next += sum(span.size for span in lease.spans)
        cursor.ended = cursor.ended or lease.ended

    def _advance(self, lane: Lane, ordinal: int, done: bool, checkpoint: Checkpoint | None) -> None:
        lane.taken = ordinal
        if checkpoint is not None:
            lane.checkpoints = [checkpoint]
        if done:
            lane.done = True
            iteration = self.iterations[lane.iteration_id]
            iteration.exhausted = True
            if iteration.dealt:
                iteration.ended[lane.index] = ordinal
            del iteration.lanes[lane.id], self.lanes[lane.id]
            return
        self._forget(lane)

    def _forget(self, lane: Lane) -> None:
        """Drops checkpoints, and splits before them, that no restart of the lane can need any more."""
        while len(lane.checkpoints) > 1 and lane.checkpoints[1].ordinal <= lane.taken:
            del lane.checkpoints[0]
        for provider, (repetition, offset) in enumerate(lane.checkpoints[0].positions):
            for key in [k for k in lane.leases if k[0] == provider and k[1] < repetition]:
                del lane.leases[key]
            lease = lane.leases.get((provider, repetition))
            if lease is not None and offset > lease.at.offset:
                lane.leases[provider, repetition] = cut(lease, offset)
