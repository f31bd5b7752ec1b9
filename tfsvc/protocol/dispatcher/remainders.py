"""Remainders: consumers of an ordered job that must all get the same number of elements.

Each reports how many elements it has at hand, and how many there are in all once it has seen its end. From that
follows how far each may go: where the rest is dropped, no farther than the last one surely gets; where it is made up,
as far as the first one has got. So nobody steps where another cannot follow.
"""

from __future__ import annotations

from typing import assert_never

from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.dispatcher.entities import Iteration
from tfsvc.protocol.dispatcher.turn import Turn


def level(turn: Turn, iteration: Iteration, client_id: int, request: m.ClientHeartbeatRequest) -> m.Level | None:
    """How far a consumer may go; ``None`` where each gets what it has."""
    job = turn.state.job_of(iteration)
    if not job.order.lanes or job.order.remainder is m.Remainder.KEEP or iteration.finished:
        return None
    consumer = iteration.clients[client_id]
    turn.vitals.ready[iteration.id, consumer] = request.ready
    if request.total is not None and consumer not in iteration.totals:
        turn.record(u.CountConsumer(iteration.id, consumer, request.total))
    found = _level(turn, iteration, consumer)
    _give_up_rest(turn, iteration, consumer, found)
    return found


def settle(turn: Turn, iteration: Iteration, client_id: int) -> None:
    """What is left of a consumer's lanes when it has had its number of elements is nobody's."""
    if turn.state.job_of(iteration).order.remainder is m.Remainder.DROP:
        consumer = iteration.clients[client_id]
        _give_up_rest(turn, iteration, consumer, _level(turn, iteration, consumer))


def _give_up_rest(turn: Turn, iteration: Iteration, consumer: int, now: m.Level) -> None:
    job = turn.state.job_of(iteration)
    if job.order.remainder is m.Remainder.DROP and now.final is not None and now.taken >= now.final:
        for lane_id in tuple(iteration.lanes):
            lane = turn.state.lanes[lane_id]
            if job.consumer_of(lane.index) == consumer:
                turn.record(u.AdvanceLane(lane.id, lane.taken, True))


def _level(turn: Turn, iteration: Iteration, consumer: int) -> m.Level:
    job = turn.state.job_of(iteration)
    reach = {c: _reach(turn, iteration, c) for c in range(job.consumers)}
    totals = iteration.totals
    match job.order.remainder:
        case m.Remainder.DROP:
            limit = min(reach.values())
            least = min(totals.values(), default=None)
            final = least if least is not None and limit >= least else None
            waits_for = tuple(c for c in reach if reach[c] == limit and c not in totals) if final is None else ()
        case m.Remainder.PAD | m.Remainder.WRAP | m.Remainder.KEEP:
            limit = max(reach.values())
            final = max(totals.values()) if len(totals) == job.consumers else None
            waits_for = tuple(c for c in reach if c not in totals)
        case _:
            assert_never(job.order.remainder)
    return m.Level(_taken(turn, iteration, consumer), limit if final is None else final, final, waits_for)


def _reach(turn: Turn, iteration: Iteration, consumer: int) -> int:
    """How far a consumer surely gets; one that has left says no more what it had, so what it has taken counts too."""
    total = iteration.totals.get(consumer)
    if total is not None:
        return total
    return max(turn.vitals.ready.get((iteration.id, consumer), 0), _taken(turn, iteration, consumer))


def _taken(turn: Turn, iteration: Iteration, consumer: int) -> int:
    job = turn.state.job_of(iteration)
    open_lanes = (turn.state.lanes[lane_id] for lane_id in iteration.lanes)
    taken = sum(lane.taken for lane in open_lanes if job.consumer_of(lane.index) == consumer)
    ended = sum(count for index, count in iteration.ended.items() if job.consumer_of(index) == consumer)
    return taken + ended - iteration.begun.get(consumer, 0)
