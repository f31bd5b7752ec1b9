"""Planted bugs: each switches off one safeguard, for as long as its context lasts.

One safeguard is not here: that a reader ignores the answer of a lane's older attempt. It spares a second request and
guards no promise, since every attempt gives the same elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final
from unittest.mock import patch

from scenarios.stories import Story, late, remainder, resume, shares, swarm
from tfsvc.errors import RpcError
from tfsvc.execution.leased import LeasedElements
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.calls import Calls
from tfsvc.protocol.client.intake import Intake
from tfsvc.protocol.client.quota import Quota
from tfsvc.protocol.client.streams import Stream
from tfsvc.protocol.contract import Command, Event, Synced
from tfsvc.protocol.dispatcher import history, jobs, lanes, ordered, shards, workers
from tfsvc.protocol.dispatcher.entities import Iteration
from tfsvc.protocol.dispatcher.state import DispatcherState
from tfsvc.protocol.dispatcher.turn import Turn
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.gate import Gate
from tfsvc.protocol.ids import Instant
from tfsvc.protocol.production import Recipe
from tfsvc.protocol.worker.lanes import LaneStream
from tfsvc.protocol.worker.producer import Producer
from tfsvc.protocol.worker.registration import Registration
from tfsvc.wire import segments
from tfsvc_sim import World
from tfsvc_sim.nodes.tempo import Tempo
from tfsvc_sim.playing.seeds import heap_world

Plant = Callable[[], Iterator[None]]


@dataclass(frozen=True, slots=True)
class Bug:
    """A safeguard that is off.

    Attributes:
      safeguard: what is off, in words.
      plant: a context in which it is.
      story: what must notice.
      make: the worlds to play it in.
    """

    safeguard: str
    plant: Plant
    story: Story = swarm
    make: Callable[[int, Tempo], World] = heap_world


def _nothing(*_: object, **__: object) -> None:
    return None


@contextmanager
def _patched(*changes: tuple[Any, str, Any]) -> Iterator[None]:
    if not changes:
        yield
        return
    (target, name, new), *rest = changes
    with patch.object(target, name, new), _patched(*rest):
        yield


def _taken_over() -> Iterator[None]:
    with _patched((lanes, "complain", _nothing), (workers, "_suspect", _nothing), (workers, "_lose", _nothing)):
        yield


def _passed_over() -> Iterator[None]:
    def deliver(stream: Stream, limit: int | None = None) -> tuple[Frame, int] | None:
        if not stream.frames:
            return None
        frame = stream.frames.popleft()
        stream.bytes -= frame.size
        return frame, 0

    with _patched((Stream, "deliver", deliver)):
        yield


def _taken_before_acknowledged() -> Iterator[None]:
    original = Stream.progress

    def progress(stream: Stream) -> m.LaneProgress:
        return replace(original(stream), ordinal=stream.received)

    with _patched((Stream, "progress", progress)):
        yield


def _done_when_taken() -> Iterator[None]:
    with _patched((Stream, "done", property(lambda stream: stream.ended))):
        yield


def _checkpoint_covered() -> Iterator[None]:
    original = lanes.open_lane

    def open_lane(turn: Turn, request: m.OpenLaneRequest) -> m.OpenLaneResponse | RpcError:
        answer = original(turn, request)
        if isinstance(answer, m.OpenLaneResponse):
            return replace(answer, checkpoint=turn.state.lanes[request.lane_id].checkpoints[-1])
        return answer

    with _patched((lanes, "open_lane", open_lane)):
        yield


def _leases_move_along() -> Iterator[None]:
    original = DispatcherState.apply

    def apply(state: DispatcherState, update: u.Update) -> None:
        original(state, update)
        if isinstance(update, u.MoveLane):
            state.lanes[update.lane_id].leases.clear()

    with _patched((DispatcherState, "apply", apply)):
        yield


def _journaled(kind: type) -> Plant:
    def plant() -> Iterator[None]:
        original = Turn.record

        def record(turn: Turn, update: u.Update) -> None:
            original(turn, update)
            if isinstance(update, kind):
                turn.updates.remove(update)

        with _patched((Turn, "record", record)):
            yield

    return plant


def _lanes_are_kept() -> Iterator[None]:
    """Compacting keeps that there are lanes, and not how far they are."""
    original = history.history

    def forgetful(state: DispatcherState) -> Iterator[u.Update]:
        return (update for update in original(state) if not isinstance(update, u.RestoreLane))

    with _patched((history, "history", forgetful)):
        yield


def _whole_snapshots() -> Iterator[None]:
    """A recovery takes what there is of a snapshot whose writer died."""
    with _patched((segments, "_is_whole", lambda parts: True)):
        yield


def _same_lease_again() -> Iterator[None]:
    original = lanes.lease

    def lease(turn: Turn, request: m.LeaseSplitsRequest) -> m.LeaseSplitsResponse | RpcError:
        lane = turn.state.lanes.get(request.lane_id)
        before = 0 if lane is None else lane.leased_to(request.provider, request.at.repetition)
        answer = original(turn, request)
        if isinstance(answer, m.LeaseSplitsResponse) and before > request.at.offset and answer.lease.spans:
            return m.LeaseSplitsResponse(replace(answer.lease, spans=()))
        return answer

    with _patched((lanes, "lease", lease)):
        yield


def _leavers_lanes_go_on() -> Iterator[None]:
    original = jobs._drop_client

    def drop(turn: Turn, client_id: int) -> None:
        for lane in tuple(turn.state.lanes.values()):
            if lane.client_id == client_id:
                turn.record(u.AdvanceLane(lane.id, lane.taken, True))
        original(turn, client_id)

    with _patched((jobs, "_drop_client", drop)):
        yield


def _end_waits_for_own_lanes() -> Iterator[None]:
    def finished_for(turn: Turn, iteration: Iteration, client_id: int) -> bool:
        return iteration.exhausted

    with _patched((lanes, "finished_for", finished_for)):
        yield


def _kept_until_given_back() -> Iterator[None]:
    original = LaneStream._serve

    def serve(stream: LaneStream, request: m.GetFramesRequest) -> m.GetFramesResponse | None:
        answer = original(stream, request)
        if answer is not None and answer.frames and stream.producer is not None:
            stream.producer.drop_before(answer.frames[-1].end)
        return answer

    with _patched((LaneStream, "_serve", serve)):
        yield


def _new_life_loses_the_old() -> Iterator[None]:
    original = workers._register

    def register(turn: Turn, request: m.WorkerHeartbeatRequest, index: int | None) -> Any:
        with patch.object(workers, "_lose", _nothing):
            return original(turn, request, index)

    with _patched((workers, "_register", register)):
        yield


def _turns_are_waited_for() -> Iterator[None]:
    def next_in_order(intake: Intake) -> list[Stream]:
        return sorted((s for s in intake.streams.values() if s.frames), key=lambda s: s.turn)

    with _patched((Intake, "_next_in_order", next_in_order)):
        yield


def _runs_go_on() -> Iterator[None]:
    original = Producer.__init__

    def init(producer: Producer, *arguments: Any) -> None:
        original(producer, *arguments)
        producer.run = 0

    with _patched((Producer, "__init__", init)):
        yield


def _luck_of_the_lane() -> Iterator[None]:
    def seed(order: m.OrderDef, repetition: int) -> int:
        seed.calls = getattr(seed, "calls", 0) + 1  # type: ignore[attr-defined]
        return int(seed.calls)  # type: ignore[attr-defined]

    with _patched((ordered, "seed", seed)):
        yield


def _rewound() -> Iterator[None]:
    with _patched((ordered, "rewind", _nothing)):
        yield


def _token_covers_what_was_taken() -> Iterator[None]:
    original = Stream.place

    def place(stream: Stream, ordinal: int) -> m.LanePlace:
        newest = stream._checkpoints[-1] if stream._checkpoints else stream.checkpoint
        found = original(stream, ordinal)
        return found if newest is None else replace(found, checkpoint=newest)

    with _patched((Stream, "place", place)):
        yield


def _all_or_none_step() -> Iterator[None]:
    with _patched((Quota, "room", _nothing), (Quota, "applies", property(lambda _: False))):
        yield


def _one_luck_for_all_workers() -> Iterator[None]:
    original = Recipe.of

    def of(task: m.TaskDef, stream: str) -> Recipe:
        return replace(original(task, stream), seed=task.task_id)

    with _patched((Recipe, "of", of)):
        yield


def _leased_elements_only() -> Iterator[None]:
    def pass_over(elements: LeasedElements, count: int) -> None:
        elements._made += 1

    with _patched((LeasedElements, "_pass_over", pass_over)):
        yield


def _lost_shards_are_given_up() -> Iterator[None]:
    with _patched((shards, "_unserved", lambda turn: ())):
        yield


def _calls_named_by_life() -> Iterator[None]:
    original = Calls.__init__

    def init(calls: Calls[Any], node: str, incarnation: int) -> None:
        original(calls, node, 0)

    with _patched((Calls, "__init__", init)):
        yield


def _older_attempts_are_refused() -> Iterator[None]:
    with _patched((lanes, "_current", lambda turn, lane_id, _: turn.state.lanes.get(lane_id) or lanes._gone(lane_id))):
        yield


def _deaf_workers_leave() -> Iterator[None]:
    with _patched((Registration, "_deaf", False)):
        yield


class LeakyGate(Gate):
    """Says everything at once, durable or not."""

    def handle(self, event: Event, now: Instant) -> Sequence[Command]:
        commands = list(super().handle(event, now))
        if not isinstance(event, Synced):
            commands += super().handle(Synced(self._appended), now)
        return commands


def _leaky_world(seed: int, tempo: Tempo) -> World:
    return World(seed, tempo, gate=LeakyGate)


def _none() -> Iterator[None]:
    yield


BUGS: Final[tuple[Bug, ...]] = (
    Bug("a lost worker's lanes go to others", _taken_over),
    Bug("a reader passes over what it had", _passed_over),
    Bug("a reader reports what was taken, not what was fetched", _taken_before_acknowledged),
    Bug("a lane is done when it was taken, not when it was fetched", _done_when_taken),
    Bug("a lane starts at a checkpoint that its reader has passed", _checkpoint_covered),
    Bug("a lane takes its leases along", _leases_move_along),
    Bug("leases are durable", _journaled(u.LeaseSplits)),
    Bug("what a reader took is durable", _journaled(u.AdvanceLane)),
    Bug("moves of lanes are durable", _journaled(u.MoveLane)),
    Bug("a snapshot says what lanes hold", _lanes_are_kept),
    Bug("a snapshot counts only when it is whole", _whole_snapshots),
    Bug("nothing is said before it is durable", _none, make=_leaky_world),
    Bug("a lease that is asked for again is the same", _same_lease_again),
    Bug("a reader that leaves gives its lanes to others", _leavers_lanes_go_on),
    Bug("the end of data waits for a reader's own lanes", _end_waits_for_own_lanes),
    Bug("a worker keeps frames until they are given back", _kept_until_given_back),
    Bug("a new life of a worker ends the old one's tasks", _new_life_loses_the_old),
    Bug("ordered lanes wait for their turn", _turns_are_waited_for),
    Bug("a restarted lane goes on counting its runs", _runs_go_on),
    Bug("an epoch's luck is the job's seed", _luck_of_the_lane),
    Bug("a token rewinds the job", _rewound, resume),
    Bug("a token's checkpoint lies before what was taken", _token_covers_what_was_taken, resume),
    Bug("consumers step together", _all_or_none_step, remainder),
    Bug("workers divide one and the same order", _one_luck_for_all_workers, shares),
    Bug("a lane gives only the elements of a shard that it leased", _leased_elements_only, shares),
    Bug("an answer to another life is ignored", _calls_named_by_life, late),
    Bug("an older attempt of a lane gets no more splits", _older_attempts_are_refused, late),
    Bug("a shard without a worker is given up", _lost_shards_are_given_up, shares),
    Bug("a worker that is heard and hears nothing gives its shard away", _deaf_workers_leave, shares),
)
