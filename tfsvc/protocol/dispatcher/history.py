"""The shortest history of a state: the few updates that fold to it, in place of the many that led there.

It is what compacting a journal keeps. Folding it gives an equal state whose parts stand in the same order,
so that a dispatcher goes on as if it had been folded from everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfsvc.protocol import updates as u
from tfsvc.protocol.dispatcher.state import DispatcherState


def history(state: DispatcherState) -> Iterator[u.Update]:
    """Updates that make a new state equal to ``state``, which must not change meanwhile."""
    yield from _datasets(state)
    for worker in state.workers.values():
        yield u.RegisterWorker(
            worker.address, worker.incarnation, worker.transfer_servers, worker.tags, worker.uid, worker.index
        )
    yield from _jobs(state)
    yield from _tasks(state)
    yield from _lanes(state)
    # The facts before these have set flags and counters by the way; these say what they came to.
    for i in state.iterations.values():
        cursors = tuple(u.CursorPoint(*key, cursor.next, cursor.ended) for key, cursor in i.cursors.items())
        yield u.RestoreIteration(
            i.id,
            cursors,
            i.released,
            tuple(i.ended_shards),
            i.lost_tasks,
            i.lost_shards,
            i.leased_again,
            i.given_up,
            i.repeated,
            *(_entries(table) for table in (i.dealt, i.ended, i.begun, i.totals)),
        )
    if state.nonces:
        yield u.RestoreNonces(tuple(u.Nonce(nonce, made) for nonce, made in state.nonces.items()))
    yield u.ReserveIds(
        state.next_dataset_id,
        state.next_iteration_id,
        state.next_client_id,
        state.next_task_id,
        state.next_job_id,
        state.next_lane_id,
    )


def _entries(table: dict[int, int]) -> tuple[u.Entry, ...]:
    return tuple(u.Entry(key, value) for key, value in table.items())


def _datasets(state: DispatcherState) -> Iterator[u.Update]:
    for dataset in state.datasets.values():
        yield u.RegisterDataset(dataset.id, dataset.definition, dataset.metadata)
        if dataset.compression_disabled is not None:
            yield u.DecideCompression(dataset.id, dataset.compression_disabled)


def _jobs(state: DispatcherState) -> Iterator[u.Update]:
    for job in state.jobs.values():
        yield u.CreateJob(
            job.id,
            job.name,
            job.dataset_id,
            job.policy,
            job.num_consumers,
            job.use_cross_trainer_cache,
            job.target_workers,
            "",
            job.order,
            job.delivery,
        )
        if job.finished:
            yield u.RestoreFinished(job.id, job.finished)
    for i in state.iterations.values():
        yield u.CreateIteration(i.id, i.job_id, i.repetition, i.seed, i.shards, i.finished)
    for client_id, iteration_id in state.clients.items():
        yield u.AcquireClient(iteration_id, client_id, "", state.iterations[iteration_id].clients[client_id])


def _tasks(state: DispatcherState) -> Iterator[u.Update]:
    for task in state.tasks.values():
        yield u.CreateTask(task.id, task.iteration_id, task.worker_address, task.pending, task.shard)
        if task.starting_round:
            yield u.PromoteTask(task.id, task.starting_round)
        if task.finished:
            yield u.FinishTask(task.id, task.lost)


def _lanes(state: DispatcherState) -> Iterator[u.Update]:
    for lane in state.lanes.values():
        yield u.OpenLane(lane.id, lane.iteration_id, lane.task_id, lane.client_id)
        leases, checkpoints = tuple(lane.leases.values()), tuple(lane.checkpoints)
        yield u.RestoreLane(lane.id, lane.shard, lane.index, lane.attempt, lane.taken, leases, checkpoints)


def shorten(updates: Iterable[u.Update]) -> Iterator[u.Update]:
    """The shortest updates that fold to the same state."""
    state = DispatcherState()
    for update in updates:
        state.apply(update)
    return history(state)
