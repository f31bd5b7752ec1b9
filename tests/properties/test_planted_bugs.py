"""Planted bugs: each is caught by the simulator within a bounded number of seeds, or the simulator is no proof.

That the same seeds are clean without a bug is in ``test_sweep.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import find, settings

from tests.properties.test_delivery import scenarios
from tfsvc.execution.leased import LeasedElements
from tfsvc.protocol import messages as m
from tfsvc.protocol import updates as u
from tfsvc.protocol.client.streams import Stream
from tfsvc.protocol.contract import Command, Event, Synced
from tfsvc.protocol.dispatcher import jobs, lanes, shards, workers
from tfsvc.protocol.dispatcher.state import DispatcherState
from tfsvc.protocol.dispatcher.turn import Turn
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.gate import Gate
from tfsvc.protocol.ids import Instant
from tfsvc.protocol.messages import ShardingPolicy
from tfsvc.protocol.production import Recipe
from tfsvc_sim.faults import FaultKind
from tfsvc_sim.heap import HeapEngine
from tfsvc_sim.play import MakeWorld, play
from tfsvc_sim.swarm import draw
from tfsvc_sim.tempo import Tempo
from tfsvc_sim.world import World

SEEDS = 400
Plant = Callable[[pytest.MonkeyPatch], None]


def make_world(seed: int, tempo: Tempo, **more: Any) -> World:
    return World(seed, tempo, engine=HeapEngine(seed), **more)


def caught(make: MakeWorld = make_world) -> int | None:
    """The first seed in which an oracle disagrees, or a machine's own check fails."""
    for seed in range(SEEDS):
        try:
            problems: Sequence[str] = play(draw(seed), make).problems
        except AssertionError as failure:
            problems = (str(failure),)
        if problems:
            return seed
    return None


def nothing(*_: object, **__: object) -> None:
    return None


def lost_worker_keeps_its_lanes(patch: pytest.MonkeyPatch) -> None:
    """Nobody takes over what a dead worker had."""
    patch.setattr(lanes, "complain", nothing)
    patch.setattr(workers, "_suspect", nothing)
    patch.setattr(workers, "_lose", nothing)


def reader_passes_over_nothing(patch: pytest.MonkeyPatch) -> None:
    """After a move, a frame that was half delivered is delivered whole."""

    def deliver(stream: Stream) -> tuple[Frame, int] | None:
        if not stream.frames:
            return None
        frame = stream.frames.popleft()
        stream.bytes -= frame.size
        return frame, 0

    patch.setattr(Stream, "deliver", deliver)


def fetched_counts_as_taken(patch: pytest.MonkeyPatch) -> None:
    """A reader acknowledges what it received, before the application took it."""
    patch.setattr(Stream, "taken", property(lambda stream: stream.received, nothing), raising=False)


def lane_starts_at_the_newest_checkpoint(patch: pytest.MonkeyPatch) -> None:
    """A lane goes on behind elements that its reader never got."""
    original = lanes.open_lane

    def open_lane(turn: Turn, request: m.OpenLaneRequest) -> object:
        answer = original(turn, request)
        if isinstance(answer, m.OpenLaneResponse):
            return m.OpenLaneResponse(turn.state.lanes[request.lane_id].checkpoints[-1], answer.leases)
        return answer

    patch.setattr(lanes, "open_lane", open_lane)


def moved_lane_forgets_its_leases(patch: pytest.MonkeyPatch) -> None:
    """The splits of a lane stay behind with its old worker."""
    original = DispatcherState.apply

    def apply(state: DispatcherState, update: u.Update) -> None:
        original(state, update)
        if isinstance(update, u.MoveLane):
            state.lanes[update.lane_id].leases.clear()

    patch.setattr(DispatcherState, "apply", apply)


def leases_are_not_journaled(patch: pytest.MonkeyPatch) -> None:
    """A dispatcher that restarts hands out the same splits again."""
    original = Turn.record

    def record(turn: Turn, update: u.Update) -> None:
        original(turn, update)
        if isinstance(update, u.LeaseSplits):
            turn.updates.remove(update)

    patch.setattr(Turn, "record", record)


def repeated_lease_gives_the_next_splits(patch: pytest.MonkeyPatch) -> None:
    """A worker that asks again since the answer was lost never sees what the answer held."""
    original = lanes.lease

    def lease(turn: Turn, request: m.LeaseSplitsRequest) -> object:
        lane = turn.state.lanes.get(request.lane_id)
        before = 0 if lane is None else lane.leased_to(request.provider, request.at.repetition)
        answer = original(turn, request)
        if isinstance(answer, m.LeaseSplitsResponse) and before > request.at.offset and answer.lease.spans:
            return m.LeaseSplitsResponse(lanes.Lease(request.provider, request.at, (), answer.lease.ended))
        return answer

    patch.setattr(lanes, "lease", lease)


def reader_that_leaves_takes_its_lanes_along(patch: pytest.MonkeyPatch) -> None:
    """What a reader left goes to nobody."""
    original = jobs._drop_client

    def drop(turn: Turn, client_id: int) -> None:
        for lane in tuple(turn.state.lanes.values()):
            if lane.client_id == client_id:
                turn.record(u.AdvanceLane(lane.id, lane.taken, True))
        original(turn, client_id)

    patch.setattr(jobs, "_drop_client", drop)


def workers_shuffle_for_themselves(patch: pytest.MonkeyPatch) -> None:
    """Each shard is taken from an order of its own."""
    original = Recipe.of

    def of(task: m.TaskDef, stream: str) -> Recipe:
        return replace(original(task, stream), seed=task.task_id)

    patch.setattr(Recipe, "of", of)


def a_lane_gives_what_was_leased_to_others(patch: pytest.MonkeyPatch) -> None:
    """Readers that share a shard both get all of it."""
    patch.setattr(LeasedElements, "_pass_over", lambda elements, count: setattr(elements, "_made", elements._made + 1))


def lost_shards_are_waited_for_in_vain(patch: pytest.MonkeyPatch) -> None:
    """Nobody gives up a shard whose worker is gone for good."""
    patch.setattr(shards, "_unserved", lambda turn: ())


@pytest.mark.parametrize(
    "plant",
    [
        lost_worker_keeps_its_lanes,
        reader_passes_over_nothing,
        fetched_counts_as_taken,
        lane_starts_at_the_newest_checkpoint,
        moved_lane_forgets_its_leases,
        leases_are_not_journaled,
        repeated_lease_gives_the_next_splits,
        reader_that_leaves_takes_its_lanes_along,
        workers_shuffle_for_themselves,
        a_lane_gives_what_was_leased_to_others,
        lost_shards_are_waited_for_in_vain,
    ],
)
def test_a_planted_bug_is_caught(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert caught() is not None


class LeakyGate(Gate):
    """Says everything at once, durable or not."""

    def handle(self, event: Event, now: Instant) -> Sequence[Command]:
        commands = list(super().handle(event, now))
        if not isinstance(event, Synced):
            commands += super().handle(Synced(self._appended), now)
        return commands


def test_a_gate_that_speaks_too_early_is_caught() -> None:
    assert caught(partial(make_world, gate=LeakyGate)) is not None


def test_a_failure_shrinks_to_the_faults_that_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a person gets to read is a small cluster with a crash of the dispatcher, and at most what times it."""
    leases_are_not_journaled(monkeypatch)
    found = find(
        scenarios(ShardingPolicy.DYNAMIC),
        lambda scenario: bool(play(scenario, make_world).problems),
        settings=settings(max_examples=2000, derandomize=True, database=None),
    )
    assert FaultKind.RESTART_DISPATCHER in [fault.kind for fault in found.faults]
    assert len(found.faults) <= 2
    assert len(found.workers) <= 2
    assert len(found.readers) == 1
