"""Lanes: exactly-once delivery through the loss of any worker.

A lane is one reader's stream from one worker. Its splits are leased in groups and remembered; the
reader reports what the application has taken. When the worker is lost, the lane moves: another
worker runs the same splits from the newest checkpoint that the reader's progress covers, and the
reader passes over what it has taken. When the reader is lost, the lane goes to another reader.
Every move is a new attempt; an older attempt gets no more splits.

The lanes of a DYNAMIC iteration share the splits of its sources and move to any worker. Where sharding is
static, a shard's elements are its splits, endless until a pipeline meets their end, and its lanes wait for
a worker that has this shard.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, assert_never

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.contract import About
from tfsvc.protocol.dispatcher import ordered, placing
from tfsvc.protocol.dispatcher.entities import Cursor, Iteration, Lane, Task
from tfsvc.protocol.dispatcher.roster import kept
from tfsvc.protocol.dispatcher.turn import Turn, invalid, precondition
from tfsvc.protocol.ids import SECOND, Instant
from tfsvc.protocol.splits import ORIGIN, Lease, SplitPlan, SplitPosition, cut, grant, left_of
from tfsvc.protocol.steering import LeaseQuestion

SHUN_NS: Final = 10 * SECOND
"""How long a reader gets no new lane at a worker that it could not reach."""


def open_lane(turn: Turn, request: m.OpenLaneRequest) -> m.OpenLaneResponse | RpcError:
    """Tells a worker where to start a lane, with the first splits if the lane is new."""
    lane = _current(turn, request.lane_id, request.attempt)
    if isinstance(lane, RpcError):
        return lane
    if turn.state.tasks[lane.task_id].worker_address != request.worker_address:
        return _fenced(lane, request.attempt)
    order = turn.state.job_of(turn.state.iterations[lane.iteration_id]).order
    if order.lanes:
        return m.OpenLaneResponse(lane.checkpoints[0], index=lane.index, order=order)
    if not lane.leases:
        starts = lane.checkpoints[0].positions or (ORIGIN,) * _providers(turn, lane)
        for provider, start in enumerate(starts):
            _extend(turn, lane, provider, start, request.wanted)
    return m.OpenLaneResponse(lane.checkpoints[0], tuple(lane.leases.values()))


def lease(turn: Turn, request: m.LeaseSplitsRequest) -> m.LeaseSplitsResponse | RpcError:
    """The lane's splits from a position on; asking again gives the same ones."""
    lane = _current(turn, request.lane_id, request.attempt)
    if isinstance(lane, RpcError):
        return lane
    if turn.state.job_of(turn.state.iterations[lane.iteration_id]).order.lanes:
        return invalid(f"Lane {lane.id} was dealt its splits; it leases none.")
    if not 0 <= request.provider < _providers(turn, lane):
        return invalid(f"Lane {lane.id} has {_providers(turn, lane)} split providers; not {request.provider}.")
    if request.checkpoint is not None and request.checkpoint.ordinal > lane.checkpoints[-1].ordinal:
        turn.record(u.SaveCheckpoint(lane.id, request.checkpoint))
    at = request.at
    end = lane.leased_to(request.provider, at.repetition)
    if at.offset > end:
        return invalid(f"Lane {lane.id} was leased {end} splits of repetition {at.repetition}, not {at.offset}.")
    if at.offset == end:
        _extend(turn, lane, request.provider, at, request.wanted)
    return m.LeaseSplitsResponse(_from(lane, request.provider, at))


def _extend(turn: Turn, lane: Lane, provider: int, at: SplitPosition, wanted: int) -> None:
    """Leases more splits, as many as the dispatcher's steering says."""
    iteration = turn.state.iterations[lane.iteration_id]
    have = lane.leases.get((provider, at.repetition))
    if wanted <= 0 or (have is not None and have.ended):
        return
    cursor = iteration.cursors.get((lane.shard, provider, at.repetition)) or Cursor()
    job = turn.state.job_of(iteration)
    # Of a shard nobody knows how many splits it has.
    plan = SplitPlan(None) if job.policy.static else turn.state.datasets[job.dataset_id].definition.plans[provider]
    worker = turn.state.tasks[lane.task_id].worker_address
    left = left_of(plan, cursor.next)
    question = LeaseQuestion(worker, wanted, lane.held, left, plan.count, len(iteration.lanes))
    size = turn.steering.lease(question)
    if left is None or _providers(turn, lane) > 1:
        size = min(size, wanted)
    turn.record(u.LeaseSplits(lane.id, grant(plan, cursor.next, at, provider, size)))


def _from(lane: Lane, provider: int, at: SplitPosition) -> Lease:
    """What the lane holds of a repetition from ``at`` on."""
    held = lane.leases.get((provider, at.repetition))
    if held is None:
        return Lease(provider, at)
    return cut(held, at.offset)


def advance(turn: Turn, client_id: int, progress: tuple[m.LaneProgress, ...]) -> None:
    """Takes note of what the application of a reader has taken."""
    for report in progress:
        lane = turn.state.lanes.get(report.lane_id)
        if lane is None or lane.client_id != client_id or report.ordinal < lane.taken:
            continue
        if report.ordinal > lane.taken or report.done:
            checkpoint = report.checkpoint
            if checkpoint is not None and not lane.checkpoints[0].ordinal < checkpoint.ordinal <= report.ordinal:
                checkpoint = None
            turn.record(u.AdvanceLane(lane.id, report.ordinal, report.done, checkpoint))


def complain(turn: Turn, client_id: int, complaints: tuple[m.LaneComplaint, ...]) -> None:
    """Moves lanes that a reader cannot get on with, to another worker where there is one."""
    for complaint in complaints:
        lane = turn.state.lanes.get(complaint.lane_id)
        if lane is None or lane.client_id != client_id or lane.attempt != complaint.attempt:
            continue
        iteration = turn.state.iterations[lane.iteration_id]
        if not complaint.refused and lane.task_id:
            turn.vitals.shunned[turn.state.tasks[lane.task_id].worker_address, client_id] = turn.now
        others = [
            task
            for task in live_tasks(turn, iteration)
            if task.id != lane.task_id and task.shard == lane.shard and placing.reads(turn, iteration, client_id, task)
        ]
        if others:
            load = Counter(turn.state.lanes[lane_id].task_id for lane_id in iteration.lanes)
            task = _least_busy(turn, load, others, client_id)
            _move(turn, lane, task.id, client_id)
            about = About(iteration=iteration.id, lane=lane.id, reader=client_id, worker=task.worker_address)
            turn.warn(f"lane {lane.id} moves to {task.worker_address}: {complaint.reason}", about)
        elif complaint.refused:
            _move(turn, lane, lane.task_id, client_id)


def _move(turn: Turn, lane: Lane, task_id: int, client_id: int) -> None:
    """A lane goes on elsewhere, in the way that the job's promise of delivery says."""
    match turn.state.job_of(turn.state.iterations[lane.iteration_id]).delivery:
        case m.Delivery.EXACTLY_ONCE:
            turn.record(u.MoveLane(lane.id, lane.attempt + 1, task_id, client_id))
        case m.Delivery.AT_LEAST_ONCE:
            turn.record(u.RepeatLane(lane.id, lane.attempt + 1, task_id, client_id))
        case m.Delivery.AT_MOST_ONCE:
            turn.record(u.DropLane(lane.id))
        case delivery:
            assert_never(delivery)


def arrange(turn: Turn, iteration: Iteration) -> None:
    """Gives every lane a live worker and reader, and every pair of them a lane while there is data."""
    if not turn.state.job_of(iteration).has_lanes or iteration.finished:
        return
    if not _arranged(turn, iteration):
        _arrange(turn, iteration)
    if finished(turn, iteration):
        for task_id in iteration.tasks:
            if not turn.state.tasks[task_id].finished:
                turn.record(u.FinishTask(task_id))


def _arranged(turn: Turn, iteration: Iteration) -> bool:
    """Whether nothing has changed since the last time, now noted."""
    _forgive(turn)
    roster = turn.vitals.roster
    if turn.vitals.shunned or turn.state.job_of(iteration).order.lanes:
        return False  # whether a worker is still shunned is a matter of time, and the end of an ordered lane of load
    if roster.arranged.get(iteration.id) == roster.changes:
        return True
    roster.arranged[iteration.id] = roster.changes
    return False


def _arrange(turn: Turn, iteration: Iteration) -> None:
    # A reader that was told of the end asks for nothing more, even if nobody has heard that it left.
    readers = [c for c in iteration.clients if c in turn.vitals.lane_readers and c not in turn.vitals.told_end]
    tasks = live_tasks(turn, iteration)
    if turn.state.job_of(iteration).order.lanes:
        ordered.arrange(turn, iteration, readers, tasks)
    elif readers and tasks:
        _rehome(turn, iteration, readers, tasks)
        pairs = {(turn.state.lanes[i].task_id, turn.state.lanes[i].client_id) for i in iteration.lanes}
        for task in (task for task in tasks if task.shard not in iteration.ended_shards):
            for client_id in readers:
                free = (task.id, client_id) not in pairs and not _shuns(turn, client_id, task)
                if free and placing.reads(turn, iteration, client_id, task):
                    turn.record(u.OpenLane(turn.state.next_lane_id, iteration.id, task.id, client_id))


def _rehome(turn: Turn, iteration: Iteration, readers: list[int], tasks: list[Task]) -> None:
    """Lanes whose reader or worker is gone go to others, to those first that have fewest."""
    alive = {task.id: None for task in tasks}
    lanes = [turn.state.lanes[lane_id] for lane_id in iteration.lanes]
    orphans = [lane for lane in lanes if lane.client_id not in iteration.clients or lane.task_id not in alive]
    if not orphans:
        return
    load = Counter(lane.task_id for lane in lanes)
    fed = Counter(lane.client_id for lane in lanes)
    for lane in orphans:
        reader_gone = lane.client_id not in iteration.clients
        able = {
            client_id: [t for t in tasks if t.shard == lane.shard and placing.reads(turn, iteration, client_id, t)]
            for client_id in (readers if reader_gone else [lane.client_id])
        }
        takers = [client_id for client_id, found in able.items() if found]
        if takers:
            client_id = min(takers, key=lambda reader: (fed[reader], reader))
            stays = any(task.id == lane.task_id for task in able[client_id])
            task_id = lane.task_id if stays else _least_busy(turn, load, able[client_id], client_id).id
            _move(turn, lane, task_id, client_id)
            fed[client_id] += reader_gone
            load[task_id] += not stays


def finished(turn: Turn, iteration: Iteration) -> bool:
    """Whether every element of an iteration with lanes was taken."""
    order = turn.state.job_of(iteration).order
    if order.lanes and len(iteration.dealt) < order.lanes:
        return False
    return iteration.exhausted and not iteration.lanes and not _foreign(turn, iteration)


def finished_for(turn: Turn, iteration: Iteration, client_id: int) -> bool:
    """Whether nothing is left that this reader could get.

    What lies with other live readers is theirs, as in TensorFlow: no reader waits for another.
    """
    if not iteration.ended_shards:
        return False
    own = placing.shards(turn, iteration, client_id)
    if not placing.exhausted(iteration, own) or _foreign(turn, iteration, None if own is None else client_id):
        return False
    job = turn.state.job_of(iteration)
    if job.order.lanes:
        lanes = (turn.state.lanes[lane_id] for lane_id in iteration.lanes)
        return not any(job.consumer_of(lane.index) == iteration.clients[client_id] for lane in lanes)
    roster, state = turn.vitals.roster, turn.state
    if roster.lanes_of(state, client_id):
        return False
    if own is None:
        return len(iteration.lanes) == sum(len(roster.lanes_of(state, reader)) for reader in iteration.clients)
    lanes = (state.lanes[lane_id] for lane_id in iteration.lanes)
    return all(lane.client_id in iteration.clients or lane.shard not in own for lane in lanes)


def _foreign(turn: Turn, iteration: Iteration, client_id: int | None = None) -> bool:
    """Whether a task that TensorFlow runs, or that a reader of TensorFlow's reads, still has elements.

    Args:
      client_id: for which reader; for anybody when not given.
    """

    def look() -> bool:
        plain = any(reader in turn.vitals.plain_readers for reader in iteration.clients)
        tasks = [turn.state.tasks[task_id] for task_id in iteration.tasks]
        if client_id is not None:
            tasks = [task for task in tasks if placing.reads(turn, iteration, client_id, task)]
        return any(not t.finished and (plain or not turn.state.workers[t.worker_address].native) for t in tasks)

    roster = turn.vitals.roster
    return look() if client_id is not None else kept(roster.foreign, iteration.id, roster.changes, look)


def live_tasks(turn: Turn, iteration: Iteration) -> list[Task]:
    """The iteration's unfinished tasks on workers of ours that are in reach."""
    found = []
    for task_id in iteration.tasks:
        task = turn.state.tasks[task_id]
        worker = turn.state.workers.get(task.worker_address)
        if not task.finished and worker and worker.native and worker.address not in turn.vitals.suspects:
            found.append(task)
    return found


def _least_busy(turn: Turn, load: Counter[int], tasks: list[Task], client_id: int) -> Task:
    return min(tasks, key=lambda task: (_shuns(turn, client_id, task), load[task.id], task.id))


def _shuns(turn: Turn, client_id: int, task: Task) -> bool:
    """Whether the reader could not reach the worker lately, or nobody has heard of the worker since."""
    said = turn.vitals.shunned.get((task.worker_address, client_id))
    if said is None:
        return False
    return _shunning(turn, task.worker_address, said)


def _shunning(turn: Turn, address: str, said: Instant) -> bool:
    return turn.now < said + SHUN_NS or turn.vitals.workers.get(address, 0) < said


def _forgive(turn: Turn) -> None:
    """Forgets who shunned whom where that is over."""
    said = turn.vitals.shunned
    for pair in [p for p, at in said.items() if p[0] not in turn.state.workers or not _shunning(turn, p[0], at)]:
        del said[pair]
        turn.changed()


def _providers(turn: Turn, lane: Lane) -> int:
    job = turn.state.job_of(turn.state.iterations[lane.iteration_id])
    return 1 if job.policy.static else len(turn.state.datasets[job.dataset_id].definition.plans)


def _current(turn: Turn, lane_id: int, attempt: int) -> Lane | RpcError:
    lane = turn.state.lanes.get(lane_id)
    if lane is None:
        return _gone(lane_id)
    return lane if lane.attempt == attempt else _fenced(lane, attempt)


def _gone(lane_id: int) -> RpcError:
    return precondition(f"Lane {lane_id} is done or was dropped; its worker can let go of it.")


def _fenced(lane: Lane, attempt: int) -> RpcError:
    return RpcError(
        Code.FAILED_PRECONDITION,
        f"Attempt {attempt} of lane {lane.id} is over: attempt {lane.attempt} runs elsewhere.",
    )
