"""Which tasks of an iteration are whose: a reader has lanes only at workers that it reads from."""

from __future__ import annotations

from tfsvc.protocol import placement
from tfsvc.protocol.dispatcher.entities import Iteration, Task
from tfsvc.protocol.dispatcher.turn import Turn


def reads(turn: Turn, iteration: Iteration, client_id: int, task: Task) -> bool:
    """Whether the reader reads the task."""
    worker = turn.state.workers.get(task.worker_address)
    tags = () if worker is None else worker.tags
    nearby = turn.vitals.nearby.get(client_id, ())
    return placement.reads(turn.state.job_of(iteration).target_workers, task.worker_address, tags, nearby)


def shards(turn: Turn, iteration: Iteration, client_id: int) -> set[int] | None:
    """The shards that the reader reads, where there are workers that it passes by; ``None`` where it reads from all."""
    own, passes_by = set(), False
    for task_id in iteration.tasks:
        task = turn.state.tasks[task_id]
        if reads(turn, iteration, client_id, task):
            own.add(task.shard)
        else:
            passes_by = True
    return own if passes_by else None


def exhausted(iteration: Iteration, own: set[int] | None) -> bool:
    """Whether the end of all that a reader of these shards may get was met."""
    return iteration.exhausted or (own is not None and bool(own) and own <= iteration.ended_shards.keys())
