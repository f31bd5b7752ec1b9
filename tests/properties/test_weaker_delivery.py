"""At most once and at least once: what is lost and what is repeated, to the element.

With one split an element, at most once loses what a lost worker had been leased and nobody had taken; at least
once repeats what was taken behind the newest checkpoint that the reader's report covered.
"""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tfsvc.protocol import updates as u
from tfsvc.protocol.dispatcher.state import DispatcherState
from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.messages import Delivery
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.nodes.pool import Speed
from tfsvc_sim.nodes.tempo import DISPATCHER
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.workloads import Workload

LOAD = Workload("range", 64)
intervals = st.sampled_from([2, 256])
crashes = st.tuples(st.integers(0, 1), st.integers(60, 500))


def run(seed: int, delivery: Delivery, crash: tuple[int, int], readers: int, checkpoint_every: int = 2) -> World:
    """Three workers, one of which dies after some milliseconds."""
    world = World(seed, engine=HeapEngine(seed))
    world.add_dispatcher()
    for _ in range(3):
        world.add_worker(Speed(checkpoint_every=checkpoint_every))
    dataset_id = world.register(LOAD.name, LOAD.definition())
    for _ in range(readers):
        world.add_reader(dataset_id, job="job", delivery=delivery)
    worker, at_ms = crash
    world.at(at_ms * MILLISECOND, lambda: world.kill(f"worker{worker}"))
    assert world.run_until(world.all_left, 60 * SECOND), "somebody waits for ever"
    return world


def taken(world: World) -> Counter[int]:
    return Counter(value for taking in world.ledger.takings for value in taking.values)


def folded(world: World) -> list[tuple[u.Update, DispatcherState]]:
    """Each update that gives up or repeats a lane, and the state before it."""
    disk = world.nodes[DISPATCHER].disk
    assert disk is not None
    found = []
    for i, update in enumerate(disk.records):
        if isinstance(update, u.DropLane | u.RepeatLane):
            state = DispatcherState()
            for earlier in disk.records[:i]:
                state.apply(earlier)
            found.append((update, state))
    return found


@settings(deadline=None)
@given(st.integers(0, 99), crashes, st.integers(1, 2), intervals)
def test_at_most_once_loses_what_was_leased_and_not_taken_and_repeats_nothing(
    seed: int, crash: tuple[int, int], readers: int, checkpoint_every: int
) -> None:
    world = run(seed, Delivery.AT_MOST_ONCE, crash, readers, checkpoint_every)
    got = taken(world)
    assert max(got.values(), default=1) == 1
    leased: set[int] = set()
    for update, state in folded(world):
        assert isinstance(update, u.DropLane)
        spans = [span for lease in state.lanes[update.lane_id].leases.values() for span in lease.spans]
        leased |= {i for lo, hi in spans for i in range(lo, hi)}
    assert set(range(64)) - set(got) == leased - set(got)
    warnings = [a.warning for a in world.applications.values() if a.ended_at is not None]
    assert len(got) == 64 or any("given up" in warning for warning in warnings)


@settings(deadline=None)
@given(st.integers(0, 99), crashes, st.integers(1, 2), intervals)
def test_at_least_once_loses_nothing_and_repeats_what_was_taken_behind_a_checkpoint(
    seed: int, crash: tuple[int, int], readers: int, checkpoint_every: int
) -> None:
    world = run(seed, Delivery.AT_LEAST_ONCE, crash, readers, checkpoint_every)
    got = taken(world)
    assert set(got) == set(range(64))
    acknowledged = 0
    held: set[int] = set()
    for update, state in folded(world):
        assert isinstance(update, u.RepeatLane)
        lane = state.lanes[update.lane_id]
        acknowledged += lane.taken - lane.checkpoints[0].ordinal
        held |= {i for lease in lane.leases.values() for lo, hi in lease.spans for i in range(lo, hi)}
    twice = {value for value, times in got.items() if times > 1}
    assert sum(times - 1 for times in got.values()) >= acknowledged
    assert twice <= held


def test_each_weaker_promise_is_seen_to_be_weaker() -> None:
    lost = sum(64 - len(taken(run(seed, Delivery.AT_MOST_ONCE, (0, 150), 1))) for seed in range(10))
    again = sum(taken(run(seed, Delivery.AT_LEAST_ONCE, (0, 150), 1, 256)).total() - 64 for seed in range(10))
    assert lost > 0
    assert again > 0
