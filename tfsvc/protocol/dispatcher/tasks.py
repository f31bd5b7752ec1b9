"""Tasks: each worker's part in each iteration."""

from __future__ import annotations

from typing import Final

from tfsvc.errors import RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.dispatcher import jobs, lanes
from tfsvc.protocol.dispatcher.entities import Iteration, Task, Worker
from tfsvc.protocol.dispatcher.turn import Turn, not_found
from tfsvc.protocol.ids import SECOND

INFINITE: Final = -1
"""The cardinality of a dataset without end."""
PROCESS_TASK_TIMEOUT_NS = 5 * SECOND
"""A worker that does not take a task in this time learns of it from its next heartbeat."""


def can_run(turn: Turn, iteration: Iteration, worker: Worker) -> bool:
    """Whether the worker stays and understands the dataset: ours run programs, TensorFlow's run graphs."""
    if worker.address in turn.vitals.draining:
        return False
    definition = turn.state.datasets[turn.state.job_of(iteration).dataset_id].definition
    return bool(definition.program) if worker.native else bool(definition.graph)


def create(turn: Turn, iteration: Iteration, worker: Worker) -> Task:
    # Once there are readers, they must agree on the round in which another worker joins.
    begun = bool(iteration.clients) or iteration.released
    pending = turn.state.job_of(iteration).coordinated and begun
    shard = 0
    if turn.state.job_of(iteration).policy.static:
        assert worker.index is not None, "static sharding gives work to configured workers only"
        shard = worker.index
    turn.record(u.CreateTask(turn.state.next_task_id, iteration.id, worker.address, pending, shard))
    return turn.state.tasks[turn.state.next_task_id - 1]


def push(turn: Turn, task: Task) -> None:
    """Tells the worker at once; nobody waits for it, its heartbeat brings the task too."""
    turn.call(task.worker_address, m.ProcessTaskRequest(describe(turn, task)), PROCESS_TASK_TIMEOUT_NS)


def describe(turn: Turn, task: Task) -> m.TaskDef:
    """The task as its worker is told of it."""
    iteration = turn.state.iterations[task.iteration_id]
    job = turn.state.job_of(iteration)
    dataset = turn.state.datasets[job.dataset_id]
    dynamic = job.policy == m.ShardingPolicy.DYNAMIC
    return m.TaskDef(
        dataset_def=dataset.definition,
        dataset_id=dataset.id,
        task_id=task.id,
        iteration_id=iteration.id,
        num_split_providers=len(dataset.definition.plans) if dynamic else 0,
        worker_address=task.worker_address,
        processing_mode_def=m.ProcessingModeDef(job.policy),
        num_consumers=job.num_consumers if job.coordinated else None,
        num_workers=iteration.shards if job.policy.static else 0,
        worker_index=task.shard,
        use_cross_trainer_cache=job.use_cross_trainer_cache,
        compressed=dataset.compressed,
        seed=iteration.seed,
        repetition=iteration.repetition,
        endless=dataset.metadata.cardinality == INFINITE,
    )


def describe_to_reader(turn: Turn, task: Task) -> m.TaskInfo:
    worker = turn.state.workers.get(task.worker_address)
    # Of a worker that is gone, consumers must know the round all the same in which they give its task up.
    return m.TaskInfo(
        worker_address=task.worker_address,
        transfer_servers=() if worker is None else worker.transfer_servers,
        worker_tags=() if worker is None else worker.tags,
        worker_uid=0 if worker is None else worker.uid,
        task_id=task.id,
        iteration_id=task.iteration_id,
        starting_round=task.starting_round,
        finished=task.finished or worker is None,
        lost=task.lost,
    )


def update(turn: Turn, request: m.WorkerUpdateRequest) -> m.WorkerUpdateResponse | RpcError:
    """Finished tasks. One that is finished already, or was forgotten since, is a normal race, not an error.

    TensorFlow's workers stop serving when an update is refused, so an unknown task is passed over.
    """
    unknown = []
    for progress in request.updates:
        task = turn.state.tasks.get(progress.task_id)
        if task is None:
            if progress.task_id >= turn.state.next_task_id:
                unknown.append(progress.task_id)
        elif progress.completed and not task.finished:
            turn.record(u.FinishTask(task.id))
            iteration = turn.state.iterations[task.iteration_id]
            lanes.arrange(turn, iteration)
            jobs.settle(turn, iteration)
    if unknown and len(unknown) == len(request.updates):
        return not_found(f"Task {unknown[0]} not found; the worker can drop it.")
    return m.WorkerUpdateResponse()
