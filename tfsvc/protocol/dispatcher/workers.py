"""Workers: who is there, in which life, and what becomes of the work of one that is gone."""

from __future__ import annotations

from typing import Final

from tfsvc.errors import RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.contract import About
from tfsvc.protocol.dispatcher import ending, jobs, lanes, shards, tasks
from tfsvc.protocol.dispatcher.entities import Worker
from tfsvc.protocol.dispatcher.turn import Turn, invalid, precondition
from tfsvc.protocol.ids import NEVER, SECOND, Instant

BEATS_MAX: Final = 400
"""How many heartbeats of workers a second are asked for at the most; gRPC takes a third of a millisecond for each."""

LEFT_NS: Final = 10 * SECOND
"""How long a whole task waits for a worker that left in good order to come back."""


def heartbeat(turn: Turn, request: m.WorkerHeartbeatRequest) -> m.WorkerHeartbeatResponse | RpcError:
    """Registers a worker, or a new life of one, and tells it what to run and what to drop."""
    address = request.worker_address
    if not address:
        return invalid("a worker must say where it is reached: its address is empty")
    worker = turn.state.workers.get(address)
    if worker is not None and request.incarnation < worker.incarnation:
        return precondition(
            f"Worker {address} was started again; this process is an older one and should end. "
            "Give each worker a port of its own."
        )
    if request.leaving:
        return _leave(turn, address)
    if address in turn.vitals.left and worker is not None and request.incarnation == worker.incarnation:
        return m.WorkerHeartbeatResponse()  # said before it left, heard after
    turn.vitals.workers[address] = turn.now
    turn.vitals.paces[address] = request.active_tasks
    slower_ns = _slower_ns(turn)
    turn.vitals.intervals_ns[address] = request.interval_ns and max(request.interval_ns, slower_ns)
    if worker is None or request.incarnation != worker.incarnation:
        index = shards.place(turn, address)
        if isinstance(index, RpcError):
            return index
        worker = _register(turn, request, index)
    _refresh(turn, worker, request)
    if request.draining:
        turn.vitals.draining[address] = None
        _suspect(turn, address)
    elif address in turn.vitals.suspects:
        del turn.vitals.suspects[address]
        turn.changed()
        turn.hasten = True
        _arrange_all(turn)
    current = dict.fromkeys(request.current_tasks)
    gone = [task_id for task_id in current if task_id not in worker.tasks]
    still_read = {lane.task_id for lane in turn.state.lanes.values()} if gone else ()
    return m.WorkerHeartbeatResponse(
        new_tasks=tuple(
            tasks.describe(turn, turn.state.tasks[task_id]) for task_id in worker.tasks if task_id not in current
        ),
        tasks_to_delete=tuple(task_id for task_id in gone if task_id not in still_read),
        drained=request.draining and ending.drained(turn, worker),
        stop=ending.ends(turn, worker),
        interval_ns=slower_ns,
    )


def _slower_ns(turn: Turn) -> int:
    """The interval in which so many workers are to be heard; 0 as long as a second is enough."""
    interval_ns = len(turn.state.workers) * SECOND // BEATS_MAX
    return interval_ns if interval_ns > SECOND else 0


def _register(turn: Turn, request: m.WorkerHeartbeatRequest, index: int | None) -> Worker:
    address = request.worker_address
    # Whether an iteration goes on is asked first: without the worker's old life it may look finished.
    going_on = [i for i in turn.state.iterations.values() if not jobs.finished(turn, i)]
    if address in turn.state.workers:
        _lose(turn, address)
    turn.record(
        u.RegisterWorker(
            address,
            request.incarnation,
            request.transfer_servers,
            request.worker_tags,
            request.worker_uid,
            index,
            request.interval_ns,
        )
    )
    turn.vitals.suspects.pop(address, None)
    turn.vitals.left.pop(address, None)
    turn.vitals.draining.pop(address, None)
    turn.vitals.dismissed.pop(address, None)
    turn.hasten = True
    worker = turn.state.workers[address]
    if request.draining:
        turn.vitals.draining[address] = None
    for iteration in going_on:
        if tasks.can_run(turn, iteration, worker):
            tasks.create(turn, iteration, worker)
            lanes.arrange(turn, iteration)
    return worker


def _refresh(turn: Turn, worker: Worker, request: m.WorkerHeartbeatRequest) -> None:
    """Believes what a worker says of itself now: TensorFlow's do not say when they were started again."""
    said = (request.transfer_servers, request.worker_tags, request.worker_uid)
    if said != (worker.transfer_servers, worker.tags, worker.uid):
        turn.record(u.RefreshWorker(worker.address, *said))
        _arrange_all(turn)


def _leave(turn: Turn, address: str) -> m.WorkerHeartbeatResponse:
    """A worker ends in good order: others take over its lanes at once.

    What else it had is waited for a little while, since a worker that leaves is often started again.
    """
    if address in turn.state.workers and address not in turn.vitals.left:
        turn.tell(f"worker {address} leaves in good order", About(worker=address))
        turn.vitals.left[address] = turn.now
        _suspect(turn, address)
        turn.hasten = True
    return m.WorkerHeartbeatResponse()


def _lose(turn: Turn, address: str) -> None:
    """A life of a worker is over: its tasks end as lost, its lanes wait for another worker."""
    for task_id in tuple(turn.state.workers[address].tasks):
        turn.record(u.FinishTask(task_id, lost=True))
    turn.record(u.LoseWorker(address))
    vitals = turn.vitals
    for known in (vitals.suspects, vitals.left, vitals.draining, vitals.dismissed, vitals.paces):
        known.pop(address, None)


def _suspect(turn: Turn, address: str) -> None:
    """The worker keeps its tasks, but its lanes go to others."""
    if address not in turn.vitals.suspects:
        turn.vitals.suspects[address] = None
        turn.changed()
        _arrange_all(turn)


def _arrange_all(turn: Turn) -> None:
    for iteration in tuple(turn.state.iterations.values()):
        lanes.arrange(turn, iteration)
        jobs.settle(turn, iteration)


def expire(turn: Turn) -> None:
    """Looks for workers that were silent too long."""
    for worker in tuple(turn.state.workers.values()):
        if turn.now >= _lost_at(turn, worker):
            about = About(worker=worker.address)
            turn.warn(
                f"worker {worker.address} is lost: what it still had to give is gone unless another has it", about
            )
            _lose(turn, worker.address)
            turn.vitals.workers.pop(worker.address, None)
            turn.vitals.intervals_ns.pop(worker.address, None)
            _arrange_all(turn)
        elif turn.now >= _suspect_at(turn, worker):
            if worker.address not in turn.vitals.suspects:
                about = About(worker=worker.address)
                turn.warn(f"worker {worker.address} missed its heartbeats; its leased splits go to others", about)
            _suspect(turn, worker.address)


def deadline(turn: Turn) -> Instant:
    """When the next worker will have been silent too long."""
    found = NEVER
    for worker in turn.state.workers.values():
        found = min(found, _lost_at(turn, worker))
        if worker.address not in turn.vitals.suspects:
            found = min(found, _suspect_at(turn, worker))
    return found


def _heard(turn: Turn, worker: Worker) -> Instant:
    return turn.vitals.workers.setdefault(worker.address, turn.now)


def _suspect_at(turn: Turn, worker: Worker) -> Instant:
    # The one that died with the last life of the dispatcher must be noticed too.
    interval = turn.vitals.intervals_ns.get(worker.address, worker.interval_ns)
    if not worker.native or not interval:
        return NEVER
    return _heard(turn, worker) + max(interval * turn.settings.lease_intervals, turn.settings.lease_ns_min)


def _lost_at(turn: Turn, worker: Worker) -> Instant:
    left = turn.vitals.left.get(worker.address)
    if left is not None:
        return left + LEFT_NS
    if turn.settings.gc_timeout_ns < 0:
        return NEVER
    return _heard(turn, worker) + turn.settings.worker_timeout_ns
