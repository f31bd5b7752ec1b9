"""How workers and the whole service end with nothing lost.

A worker drains when its own process wants it to, or when an operator has it told. It gets nothing new; its lanes go
to others where there are any, and what only it has is read to the end. A service that is stopped has all its workers
drain, and ends when they are gone. One that is to exit when idle stops itself.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from tfsvc.errors import RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import About, Exit
from tfsvc.protocol.dispatcher import placing
from tfsvc.protocol.dispatcher.entities import Task, Worker
from tfsvc.protocol.dispatcher.turn import Stopping, Turn, not_found, precondition
from tfsvc.protocol.ids import NEVER, SECOND, CallId, Instant

PARTING_NS: Final = 5 * SECOND
"""How long the service waits for workers that may go, beyond their heartbeat's interval."""
NAMED: Final = 10
"""So many workers are named to somebody who names one that there is not."""


def drained(turn: Turn, worker: Worker) -> bool:
    """Whether nothing is lost if the worker leaves now."""
    if turn.vitals.stopping is not None and turn.now >= turn.vitals.stopping.until:
        return True
    if turn.now >= turn.vitals.dismissed.get(worker.address, NEVER):
        return True
    if any(lane.task_id in worker.tasks for lane in turn.state.lanes.values()):
        return False
    if any(_needed(turn, turn.state.tasks[task_id]) for task_id in worker.tasks):
        return False
    staying = any(other.native and other.address not in turn.vitals.suspects for other in turn.state.workers.values())
    writes = any(
        stream.worker_address == worker.address
        for snapshot in turn.state.snapshots.by_path.values()
        if snapshot.active
        for stream in snapshot.open()
    )
    return staying or not writes


def _needed(turn: Turn, task: Task) -> bool:
    """Whether somebody reads the task whole, so that no other worker can go on with it."""
    iteration = turn.state.iterations[task.iteration_id]
    in_lanes = turn.state.job_of(iteration).has_lanes
    return not task.pending and any(
        placing.reads(turn, iteration, client_id, task)
        for client_id in iteration.clients
        if not in_lanes or client_id in turn.vitals.plain_readers
    )


def dismiss(turn: Turn, request: m.DrainWorkerRequest) -> m.DrainWorkerResponse | RpcError:
    """A worker is to drain and to end; it hears so with its next heartbeat."""
    worker = turn.state.workers.get(request.worker_address)
    if worker is None:
        known = ", ".join(islice(turn.state.workers, NAMED)) or "none"
        return not_found(f"There is no worker at {request.worker_address!r}. Workers that there are: {known}.")
    if not worker.native:
        return precondition(f"Worker {worker.address} is TensorFlow's, and cannot be told; end its process.")
    if worker.address not in turn.vitals.dismissed:
        turn.tell(f"worker {worker.address} is told to drain and to end", About(worker=worker.address))
    until = turn.now + max(0, request.grace_ns)
    turn.vitals.dismissed[worker.address] = min(until, turn.vitals.dismissed.get(worker.address, NEVER))
    return m.DrainWorkerResponse()


def ends(turn: Turn, worker: Worker) -> bool:
    """Whether a worker is to drain and to end by itself."""
    return turn.vitals.stopping is not None or worker.address in turn.vitals.dismissed


def begin(turn: Turn, call: CallId, request: m.StopServiceRequest) -> None:
    """The service is to end; answered when its workers are gone."""
    _stop(turn, request.grace_ns)
    assert turn.vitals.stopping is not None
    turn.vitals.stopping.waiting.append(call)
    settle(turn)


def _stop(turn: Turn, grace_ns: int) -> None:
    if turn.vitals.stopping is None:
        turn.tell("the whole service ends")
        turn.vitals.stopping = Stopping(turn.now + grace_ns)
    else:
        turn.vitals.stopping.until = min(turn.vitals.stopping.until, turn.now + grace_ns)
    turn.hasten = True


def refusal(turn: Turn) -> RpcError | None:
    """Why nobody may begin to read any more, if that is so."""
    if turn.vitals.stopping is None:
        return None
    return precondition("The data service is being stopped; it takes no more readers.")


def cut_off(turn: Turn) -> RpcError | None:
    """Why nobody gets anything any more, if that is so."""
    if turn.vitals.stopping is None or turn.now < turn.vitals.stopping.until:
        return None
    return precondition("The data service was stopped before this reader had all its elements.")


def expire(turn: Turn) -> None:
    """Stops what has been idle for long enough, and ends what is to be stopped."""
    limit_ns = turn.settings.idle_ns
    if limit_ns is not None and turn.vitals.stopping is None:
        busy = turn.state.clients or any(snapshot.active for snapshot in turn.state.snapshots.by_path.values())
        if busy:
            turn.vitals.had_work, turn.vitals.idle_since = True, None
        elif turn.vitals.had_work and turn.vitals.idle_since is None:
            turn.vitals.idle_since = turn.now
        if turn.vitals.idle_since is not None and turn.now >= turn.vitals.idle_since + limit_ns:
            _stop(turn, 0)
    settle(turn)


def settle(turn: Turn) -> None:
    """Ends the service if it is to end and its workers are gone."""
    stopping = turn.vitals.stopping
    if stopping is None or stopping.over:
        return
    there = [w for w in turn.state.workers.values() if w.native and w.address not in turn.vitals.left]
    if there and turn.now < _last_moment(turn, stopping):
        return
    stopping.over = True
    for call in stopping.waiting:
        turn.reply(call, m.StopServiceResponse())
    turn.words.append(Exit())


def _last_moment(turn: Turn, stopping: Stopping) -> Instant:
    intervals = (turn.vitals.intervals_ns.get(address, 0) for address in turn.state.workers)
    return stopping.until + max(intervals, default=0) + PARTING_NS


def deadline(turn: Turn) -> Instant:
    stopping = turn.vitals.stopping
    if stopping is not None:
        return NEVER if stopping.over else _last_moment(turn, stopping)
    if turn.settings.idle_ns is None:
        return NEVER
    since = turn.vitals.idle_since
    return turn.now + turn.settings.idle_ns // 4 if since is None else since + turn.settings.idle_ns
