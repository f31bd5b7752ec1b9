"""Steering lanes: the dispatcher's side of the questions in ``tfsvc.protocol.steering``."""

from __future__ import annotations

from tfsvc.protocol import updates as u
from tfsvc.protocol.contract import About
from tfsvc.protocol.dispatcher import lanes
from tfsvc.protocol.dispatcher.entities import Iteration, Lane
from tfsvc.protocol.dispatcher.turn import Standing, Turn
from tfsvc.protocol.ids import NEVER, Instant
from tfsvc.protocol.messages import Delivery
from tfsvc.protocol.steering import LaneReport, Situation


def expire(turn: Turn) -> None:
    """Asks which lanes should move, when it is time."""
    every_ns = turn.steering.every_ns
    if not every_ns or turn.now < turn.vitals.next_steering:
        return
    turn.vitals.next_steering = turn.now + every_ns
    standings = {
        lane_id: standing for lane_id, standing in turn.vitals.standings.items() if lane_id in turn.state.lanes
    }
    turn.vitals.standings = standings
    for iteration in tuple(turn.state.iterations.values()):
        if _steered(turn, iteration):
            _steer(turn, iteration)


def deadline(turn: Turn) -> Instant:
    """When it is time again; never while there is nothing to steer."""
    if turn.steering.every_ns and any(_steered(turn, iteration) for iteration in turn.state.iterations.values()):
        return max(turn.now, turn.vitals.next_steering)
    return NEVER


def _steered(turn: Turn, iteration: Iteration) -> bool:
    """Whether its lanes may go to any worker, and lose nothing by it."""
    job = turn.state.job_of(iteration)
    free = job.policy.has_lanes and not job.policy.static and not job.order.lanes
    return free and job.delivery is Delivery.EXACTLY_ONCE and bool(iteration.clients)


def _steer(turn: Turn, iteration: Iteration) -> None:
    tasks = {task.worker_address: task for task in lanes.live_tasks(turn, iteration)}
    found = [_report(turn, turn.state.lanes[lane_id]) for lane_id in iteration.lanes]
    busy = {report.worker: None for report in found}
    idle = tuple(address for address in tasks if address not in busy)
    for shift in turn.steering.shifts(Situation(turn.now, found, idle, iteration.exhausted)):
        lane, task = turn.state.lanes.get(shift.lane_id), tasks.get(shift.worker)
        if lane is not None and task is not None and lane.iteration_id == iteration.id and lane.task_id != task.id:
            turn.record(u.MoveLane(lane.id, lane.attempt + 1, task.id, lane.client_id))
            about = About(iteration=iteration.id, lane=lane.id, reader=lane.client_id, worker=task.worker_address)
            turn.tell(f"lane {lane.id} is taken over by {task.worker_address}", about)


def _report(turn: Turn, lane: Lane) -> LaneReport:
    standing = turn.vitals.standings.get(lane.id)
    if standing is None or standing.attempt != lane.attempt:
        standing = turn.vitals.standings[lane.id] = Standing(lane.attempt, turn.now, lane.taken)
    task = turn.state.tasks.get(lane.task_id)
    address = "" if task is None else task.worker_address
    return LaneReport(
        lane.id, address, lane.client_id, lane.held, lane.taken, lane.attempt, standing.since, standing.taken
    )
