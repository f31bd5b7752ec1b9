"""All that a dispatcher must remember through a restart: a fold over its updates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, assert_never

from tfsvc.protocol import snapshot_updates as s
from tfsvc.protocol import updates as u
from tfsvc.protocol.dispatcher.entities import Cursor, Dataset, Iteration, Job, Lane, Task, Worker
from tfsvc.protocol.dispatcher.snapshot_state import Snapshots
from tfsvc.protocol.messages import (
    LanePlace,
)
from tfsvc.protocol.splits import Lease, Span, cut, extended, has_position, merge_spans

NONCES_MAX: Final = 4096
"""How many openings are remembered by what made them: a call that is repeated comes soon after its first try."""


@dataclass(slots=True)
class DispatcherState:
    """What is open, and of what is over no more than must be known."""

    datasets: dict[str, Dataset] = field(default_factory=dict)
    workers: dict[str, Worker] = field(default_factory=dict)
    places: dict[int, str] = field(default_factory=dict)
    """Who has each place among the configured workers, or had it last."""
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
        # What happens most often comes first, and is taken apart by hand, which is faster.
        match update:
            case u.LeaseSplits():
                self._lease(self.lanes[update.lane_id], update.lease)
            case u.AdvanceLane():
                self._advance(self.lanes[update.lane_id], update)
            case u.SaveCheckpoint():
                lane = self.lanes[update.lane_id]
                lane.checkpoints.append(update.checkpoint)
                self._forget(lane)
            case u.RegisterDataset(dataset_id, definition, metadata):
                self.datasets[dataset_id] = Dataset(dataset_id, definition, metadata)
                if dataset_id.isdecimal():
                    self.next_dataset_id = max(self.next_dataset_id, int(dataset_id) + 1)
            case u.DecideCompression(dataset_id, disabled):
                self.datasets[dataset_id].compression_disabled = disabled
            case u.RegisterWorker(address, incarnation, transfer_servers, tags, uid, index, interval_ns):
                self.workers[address] = Worker(address, incarnation, transfer_servers, tags, uid, index, interval_ns)
                if index is not None:
                    self.places[index] = address
            case u.RefreshWorker(address, transfer_servers, tags, uid):
                worker = self.workers[address]
                worker.transfer_servers, worker.tags, worker.uid = transfer_servers, tags, uid
            case u.LoseWorker(address):
                del self.workers[address]
            case u.CreateJob():
                self._create_job(update)
            case u.CreateIteration(iteration_id, job_id, repetition, seed, shards, finished):
                self.iterations[iteration_id] = Iteration(
                    iteration_id, job_id, repetition, seed, max(1, shards), finished=finished
                )
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
            case u.CreateTask(task_id, iteration_id, worker_address, pending, shard):
                self.tasks[task_id] = Task(task_id, iteration_id, worker_address, shard, pending=pending)
                self.iterations[iteration_id].tasks[task_id] = None
                if worker_address in self.workers:
                    self.workers[worker_address].tasks[task_id] = None
                self.next_task_id = task_id + 1
            case u.PromoteTask(task_id, starting_round):
                task = self.tasks[task_id]
                task.pending, task.starting_round = False, starting_round
            case u.RemoveTask(task_id):
                task = self.tasks.pop(task_id)
                self._take_from_worker(task)
                del self.iterations[task.iteration_id].tasks[task_id]
            case u.FinishTask(task_id, lost):
                self._finish_task(self.tasks[task_id], lost)
            case u.CollectIteration(iteration_id):
                self._drop(self.iterations[iteration_id])
            case u.FinishIteration(iteration_id):
                iteration = self.iterations[iteration_id]
                self._add_finished(iteration.job_id, (Span(iteration.repetition, iteration.repetition + 1),))
                self._drop(iteration)
            case u.GiveUpShard(iteration_id, shard):
                self._give_up(self.iterations[iteration_id], shard)
            case u.ProduceSplit(iteration_id, provider, repetition, finished):
                iteration = self.iterations[iteration_id]
                cursor = iteration.cursors.setdefault((0, provider, repetition), Cursor())
                if finished:
                    cursor.ended = True
                else:
                    cursor.next += 1
            case u.OpenLane(lane_id, iteration_id, task_id, client_id):
                shard = self.tasks[task_id].shard if task_id in self.tasks else 0
                self.lanes[lane_id] = Lane(lane_id, iteration_id, task_id, client_id, shard)
                self.iterations[iteration_id].lanes[lane_id] = None
                self.next_lane_id = lane_id + 1
            case u.DealLane(lane_id, iteration_id, place):
                self._deal(lane_id, self.iterations[iteration_id], place)
            case u.CountConsumer(iteration_id, consumer, total):
                self.iterations[iteration_id].totals[consumer] = total
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
            case u.ReserveIds():
                self._reserve(update)
            case u.RestoreNonces(nonces):
                self.nonces.update((entry.nonce, entry.made) for entry in nonces)
            case u.RestoreFinished(job_id, repetitions):
                self._add_finished(job_id, repetitions)
            case u.RestoreIteration():
                self._restore_iteration(update)
            case u.RestoreLane(lane_id, shard, index, attempt, taken, leases, checkpoints):
                lane = self.lanes[lane_id]
                lane.shard, lane.index, lane.attempt = shard, index, attempt
                lane.taken, lane.checkpoints = taken, list(checkpoints)
                lane.leases = {(lease.provider, lease.at.repetition): lease for lease in leases}
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
                | s.RestoreStream()
                | s.RestoreSnapshot()
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
            if len(self.nonces) > NONCES_MAX:
                del self.nonces[next(iter(self.nonces))]

    def _reserve(self, ids: u.ReserveIds) -> None:
        self.next_dataset_id = ids.dataset_id
        self.next_iteration_id = ids.iteration_id
        self.next_client_id = ids.client_id
        self.next_task_id = ids.task_id
        self.next_job_id = ids.job_id
        self.next_lane_id = ids.lane_id

    def _restore_iteration(self, update: u.RestoreIteration) -> None:
        iteration = self.iterations[update.iteration_id]
        iteration.cursors = {(c.shard, c.provider, c.repetition): Cursor(c.next, c.ended) for c in update.cursors}
        iteration.released, iteration.ended_shards = update.released, dict.fromkeys(update.ended_shards)
        iteration.lost_tasks, iteration.lost_shards = update.lost_tasks, update.lost_shards
        iteration.leased_again = update.leased_again
        iteration.given_up, iteration.repeated = update.given_up, update.repeated
        iteration.dealt, iteration.ended = _table(update.dealt), _table(update.ended)
        iteration.begun, iteration.totals = _table(update.begun), _table(update.totals)

    def _finish_task(self, task: Task, lost: bool) -> None:
        task.finished, task.lost = True, lost
        self._take_from_worker(task)
        iteration = self.iterations[task.iteration_id]
        if lost:
            iteration.lost_tasks += 1
        else:
            iteration.ended_shards[task.shard] = None

    def _give_up(self, iteration: Iteration, shard: int) -> None:
        iteration.ended_shards[shard] = None
        iteration.lost_shards += 1
        for lane_id in [i for i in iteration.lanes if self.lanes[i].shard == shard]:
            del iteration.lanes[lane_id], self.lanes[lane_id]

    def _take_from_worker(self, task: Task) -> None:
        worker = self.workers.get(task.worker_address)
        if worker is not None:
            worker.tasks.pop(task.id, None)

    def _add_finished(self, job_id: int, repetitions: tuple[Span, ...]) -> None:
        job = self.jobs[job_id]
        for span in repetitions:
            if not has_position(job.finished, span.lo):
                job.finished = tuple(merge_spans(sorted((*job.finished, span))))

    def _drop(self, iteration: Iteration) -> None:
        """Forgets an iteration, and its job if nobody can ask for that any more."""
        for task_id in iteration.tasks:
            self._take_from_worker(self.tasks.pop(task_id))
        for lane_id in iteration.lanes:
            del self.lanes[lane_id]
        for client_id in iteration.clients:
            del self.clients[client_id]
        del self.iterations[iteration.id]
        job = self.jobs[iteration.job_id]
        del job.iterations[iteration.repetition]
        if job.anonymous and not job.iterations:
            del self.jobs[job.id], self.jobs_by_name[job.name]

    def _deal(self, lane_id: int, iteration: Iteration, place: LanePlace) -> None:
        older = self.lanes.pop(iteration.dealt.get(place.index, 0), None)
        if older is not None:
            del iteration.lanes[older.id]
        if place.index not in iteration.dealt:
            consumer = self.job_of(iteration).consumer_of(place.index)
            iteration.begun[consumer] = iteration.begun.get(consumer, 0) + place.ordinal
        iteration.ended.pop(place.index, None)
        lane = Lane(lane_id, iteration.id, 0, 0, index=place.index, taken=place.ordinal, checkpoints=[place.checkpoint])
        self.lanes[lane_id] = lane
        iteration.lanes[lane_id] = None
        iteration.dealt[place.index] = lane_id
        # Which lanes there are is settled beforehand: nobody opens more.
        iteration.ended_shards[0] = None
        iteration.finished = False
        self.next_lane_id = lane_id + 1

    def _lease(self, lane: Lane, lease: Lease) -> None:
        key = lease.provider, lease.at.repetition
        lane.leases[key] = extended(lane.leases.get(key), lease)
        cursors, place = self.iterations[lane.iteration_id].cursors, (lane.shard, *key)
        cursor = cursors.get(place)
        if cursor is None:
            cursor = cursors[place] = Cursor()
        cursor.next += lease.size
        cursor.ended = cursor.ended or lease.ended

    def _advance(self, lane: Lane, update: u.AdvanceLane) -> None:
        lane.taken = update.ordinal
        if update.checkpoint is not None:
            lane.checkpoints = [update.checkpoint]
        if update.done:
            lane.done = True
            iteration = self.iterations[lane.iteration_id]
            iteration.ended_shards[lane.shard] = None
            if iteration.dealt:
                iteration.ended[lane.index] = update.ordinal
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


def _table(entries: tuple[u.Entry, ...]) -> dict[int, int]:
    return {entry.key: entry.value for entry in entries}
