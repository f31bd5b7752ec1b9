"""Coordinated reads: readers that read in rounds agree on the round in which a worker joins them, or leaves.

TensorFlow's protocol. A worker that joins late has a pending task with a target round; every reader stops before that
round and says so; when all have, the task begins there. A reader that cannot reach a worker asks to remove its task;
when all readers ask that in the same round, it is removed for all.
"""

from __future__ import annotations

from typing import Final

from tfsvc.errors import RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.dispatcher import tasks
from tfsvc.protocol.dispatcher.entities import Iteration, Task
from tfsvc.protocol.dispatcher.turn import Joining, Removal, Turn, precondition
from tfsvc.protocol.ids import NEVER, SECOND, CallId, Instant

REMOVAL_NS: Final = 10 * SECOND
"""How long readers wait for each other to give up a task."""


def heartbeat(turn: Turn, iteration: Iteration, request: m.ClientHeartbeatRequest) -> int | None:
    """Takes note of a reader's rounds; gives the round before which it is to stop."""
    client_id = request.iteration_client_id
    rounds = turn.vitals.rounds
    if request.current_round is not None:
        rounds[client_id] = max(rounds.get(client_id, 0), request.current_round)
    task = next((t for t in _tasks(turn, iteration) if t.pending), None)
    if task is None:
        return None
    joining = turn.vitals.joining.setdefault(task.id, Joining())
    target = joining.target
    if request.current_round is not None and request.current_round >= target:
        joining.target = rounds[client_id] + 2 * 2**joining.failures
        joining.failures += 1
        joining.ready.clear()
    if request.blocked_round is not None and request.blocked_round <= target:
        joining.ready[client_id] = None
    if len(joining.ready) == turn.state.job_of(iteration).num_consumers:
        turn.record(u.PromoteTask(task.id, joining.target))
        del turn.vitals.joining[task.id]
        return None
    return joining.target


def _tasks(turn: Turn, iteration: Iteration) -> list[Task]:
    return [turn.state.tasks[task_id] for task_id in iteration.tasks]


def maybe_remove(
    turn: Turn, call: CallId, request: m.MaybeRemoveTaskRequest
) -> m.MaybeRemoveTaskResponse | RpcError | None:
    """Whether a task was removed; ``None`` while the other readers are waited for."""
    task = turn.state.tasks.get(request.task_id)
    if task is None:
        return m.MaybeRemoveTaskResponse(True)
    job = turn.state.job_of(turn.state.iterations[task.iteration_id])
    if not job.coordinated:
        return precondition("MaybeRemoveTask is only for tasks of coordinated reads.")
    removals = turn.vitals.removals
    removal = removals.get(task.id)
    if removal is not None and removal.round != request.round:
        _end(turn, task.id, False)
        return m.MaybeRemoveTaskResponse(False)
    if removal is None:
        removal = removals[task.id] = Removal(request.round, turn.now + REMOVAL_NS)
        turn.hasten = True
    removal.waiting.setdefault(request.consumer_index, []).append(call)
    if len(removal.waiting) == job.num_consumers:
        turn.record(u.RemoveTask(task.id))
        _end(turn, task.id, True)
        worker = turn.state.workers.get(task.worker_address)
        # A worker in another life has been given a task in place of the one that was lost.
        if worker is not None and not task.finished:
            tasks.create(turn, turn.state.iterations[task.iteration_id], worker)
    return None


def _end(turn: Turn, task_id: int, removed: bool) -> None:
    for calls in turn.vitals.removals.pop(task_id).waiting.values():
        for call in calls:
            turn.reply(call, m.MaybeRemoveTaskResponse(removed))


def expire(turn: Turn) -> None:
    """Readers that waited too long for others keep the task."""
    for task_id, removal in tuple(turn.vitals.removals.items()):
        if turn.now >= removal.until:
            _end(turn, task_id, False)


def deadline(turn: Turn) -> Instant:
    return min((removal.until for removal in turn.vitals.removals.values()), default=NEVER)
