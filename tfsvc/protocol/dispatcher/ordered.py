"""Ordered jobs: lanes that are dealt beforehand, so that their order is a function of the dataset alone.

The lanes are there from the start, each for one of the job's consumers; only the worker that runs one changes. A
newer reader takes the lanes of an older one that is the same consumer. A reader that resumes has its lanes begin
anew where its token says, however far they had gone on.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from tfsvc.errors import RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.dispatcher import placing
from tfsvc.protocol.dispatcher.entities import Iteration, Job, Lane, Task
from tfsvc.protocol.dispatcher.turn import Turn, invalid
from tfsvc.protocol.luck import Luck

LANES_MAX: Final = 1024


def check_job(request: m.GetOrCreateJobRequest) -> RpcError | None:
    """Whether there can be such a job."""
    lanes, consumers = request.order.lanes, request.num_consumers or 1
    if not lanes:
        return None
    if request.delivery is not m.Delivery.EXACTLY_ONCE:
        return invalid(f"A fixed order is delivered exactly once, not {request.delivery.name}.")
    if request.processing_mode_def.sharding_policy != m.ShardingPolicy.DYNAMIC:
        return invalid(f"Only DYNAMIC jobs have a fixed order, not {request.processing_mode_def.sharding_policy.name}.")
    if not consumers <= lanes <= LANES_MAX:
        return invalid(
            f"A fixed order needs at least one lane a consumer ({consumers}) and at most {LANES_MAX}; got {lanes}."
        )
    return invalid(f"A block has at least one split; got {request.order.block}.") if request.order.block < 1 else None


def check(job: Job, request: m.GetOrCreateIterationRequest) -> RpcError | None:
    """Whether the request fits the job."""
    if not job.order.lanes:
        if request.resumes:
            return invalid(f"Job {job.name} has no fixed order, so it cannot be resumed; make it deterministic.")
        return None
    consumers = job.consumers
    if not 0 <= request.consumer_index < consumers:
        return invalid(f"Job {job.name} has {consumers} consumers; there is no consumer {request.consumer_index}.")
    strange = [place.index for place in request.places if not 0 <= place.index < job.order.lanes]
    if strange:
        return invalid(f"Job {job.name} has {job.order.lanes} lanes; the token is of a lane {strange[0]}.")
    return None


def seed(order: m.OrderDef, repetition: int) -> int:
    """Of an epoch's luck: a function of the job's own seed."""
    return Luck(order.seed, f"epoch/{repetition}").bits() >> 1


def deal(turn: Turn, iteration: Iteration, consumer: int) -> None:
    """Makes the consumer's lanes, as far as they are not there yet."""
    job = turn.state.job_of(iteration)
    for index in range(job.order.lanes):
        if job.consumer_of(index) == consumer and index not in iteration.dealt:
            turn.record(u.DealLane(turn.state.next_lane_id, iteration.id, m.LanePlace(index)))


def rewind(turn: Turn, iteration: Iteration, consumer: int, places: tuple[m.LanePlace, ...]) -> None:
    """The consumer's lanes begin anew at ``places``, or at their beginning."""
    job = turn.state.job_of(iteration)
    known = {place.index: place for place in places}
    for index in range(job.order.lanes):
        if job.consumer_of(index) == consumer:
            place = known.get(index, m.LanePlace(index))
            turn.record(u.DealLane(turn.state.next_lane_id, iteration.id, place))


def older_readers(iteration: Iteration, client_id: int) -> list[int]:
    """Readers that were the same consumer before."""
    consumer = iteration.clients[client_id]
    return [other for other, index in iteration.clients.items() if index == consumer and other != client_id]


def arrange(turn: Turn, iteration: Iteration, readers: list[int], tasks: list[Task]) -> None:
    """Gives every lane its consumer's reader, if that is there, and a worker; no worker idles while another has two."""
    job = turn.state.job_of(iteration)
    for consumer in tuple(iteration.clients.values()):
        deal(turn, iteration, consumer)  # a crash may have cut that short
    reader_of = {iteration.clients[client_id]: client_id for client_id in readers}
    alive = {task.id: None for task in tasks}
    load = Counter({task.id: 0 for task in tasks})
    load.update(lane.task_id for lane in _lanes(turn, iteration) if lane.task_id in alive)
    for lane in _lanes(turn, iteration):
        client_id = reader_of.get(job.consumer_of(lane.index), lane.client_id)
        task_id = lane.task_id
        if task_id not in alive or not placing.reads(turn, iteration, client_id, turn.state.tasks[task_id]):
            able = [task for task in tasks if placing.reads(turn, iteration, client_id, task)]
            task_id = min(able, key=lambda task: (load[task.id], task.id)).id if able else task_id
        if task_id != lane.task_id:
            if lane.task_id in alive:
                load[lane.task_id] -= 1
            load[task_id] += 1
        if (task_id, client_id) != (lane.task_id, lane.client_id):
            turn.record(u.MoveLane(lane.id, lane.attempt + 1, task_id, client_id))
    _spread(turn, iteration, load)


def _spread(turn: Turn, iteration: Iteration, load: Counter[int]) -> None:
    """Lanes go from busy workers to idle ones."""
    if not load or min(load.values()) > 0:
        return
    while True:
        least = min(load, key=lambda task_id: (load[task_id], task_id))
        most = max(load, key=lambda task_id: (load[task_id], task_id))
        if load[most] - load[least] < 2:
            return
        idle = turn.state.tasks[least]
        movable = (
            lane
            for lane in reversed(_lanes(turn, iteration))
            if lane.task_id == most and placing.reads(turn, iteration, lane.client_id, idle)
        )
        lane = next(movable, None)
        if lane is None:
            return
        turn.record(u.MoveLane(lane.id, lane.attempt + 1, least, lane.client_id))
        load[most] -= 1
        load[least] += 1


def _lanes(turn: Turn, iteration: Iteration) -> list[Lane]:
    return sorted((turn.state.lanes[lane_id] for lane_id in iteration.lanes), key=lambda lane: lane.index)
