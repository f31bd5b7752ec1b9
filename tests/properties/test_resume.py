"""Resuming: cut an ordered job anywhere, go on from its tokens elsewhere, and the sequence is the same.

A life of a job runs in a world of its own, so that nothing but the tokens is left of the one before. The cut falls
where the readers close after some elements each, which need not be at a boundary of anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.messages import LanePlace, OrderDef, ShardingPolicy
from tfsvc_sim.faults import Fault, apply
from tfsvc_sim.faults.bounds import bounded
from tfsvc_sim.faults.menu import FaultKind, usual
from tfsvc_sim.judging.sequence import Element, elements
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.nodes.application import Habits
from tfsvc_sim.nodes.pool import Speed
from tfsvc_sim.nodes.world import Consumer, World
from tfsvc_sim.playing.workloads import Workload, kinds_for

WORLD_NS = 120 * SECOND
BOOT_NS = 50 * MILLISECOND
HARMLESS = [kind for kind in FaultKind if kind not in (FaultKind.KILL_READER, FaultKind.OLD_READER)]
# Such a reader survives, and can say where an ordered job is to go on.


@dataclass(frozen=True)
class Life:
    """One run of a job: its consumers, how many elements each takes before it closes, and what happens meanwhile."""

    seed: int
    workers: int
    leave_after: tuple[int | None, ...]
    faults: tuple[Fault, ...] = ()


faults = st.builds(
    usual, slot=st.integers(0, 8), kind=st.sampled_from(HARMLESS), target=st.integers(0, 3), span=st.integers(1, 12)
)


def lives(last: bool) -> st.SearchStrategy[Life]:
    leave = st.none() if last else st.none() | st.integers(1, 20)
    return st.builds(
        Life,
        seed=st.integers(0, 9),
        workers=st.integers(1, 4),
        leave_after=st.lists(leave, min_size=1, max_size=3).map(tuple),
        faults=st.lists(faults, max_size=3).map(tuple),
    )


def run(life: Life, load: Workload, order: OrderDef, places: tuple[LanePlace, ...], checkpoint_every: int) -> World:
    """Plays a life to its end."""
    world = World(life.seed, engine=HeapEngine(life.seed))
    world.add_dispatcher()
    for _ in range(life.workers):
        world.add_worker(Speed(checkpoint_every=checkpoint_every))
    dataset_id = world.register(load.name, load.definition())
    world.run(BOOT_NS)
    count = len(life.leave_after)
    for index, leave_after in enumerate(life.leave_after):
        role = Consumer(order, index, count if count > 1 else None, places)
        world.add_reader(dataset_id, job="job", habits=Habits(leave_after=leave_after), role=role)
    apply(bounded(life.faults, len(world.workers)), world)
    assert world.run_until(world.all_left, WORLD_NS), "somebody waits for ever"
    return world


@settings(deadline=None)
@given(
    st.builds(Workload, kind=st.sampled_from(kinds_for(ShardingPolicy.DYNAMIC)), size=st.integers(0, 64)),
    st.builds(OrderDef, lanes=st.integers(3, 6), block=st.integers(1, 4), seed=st.integers(0, 3)),
    st.lists(lives(last=False), max_size=2),
    lives(last=True),
    st.sampled_from([1, 4, 256]),
)
def test_whatever_the_cuts_the_rest_is_the_rest(
    load: Workload, order: OrderDef, early: list[Life], last: Life, checkpoint_every: int
) -> None:
    remaining = elements(load.definition(), order)
    places: tuple[LanePlace, ...] = ()
    for life in [*early, last]:
        world = run(life, load, order, places, checkpoint_every)
        count = len(life.leave_after)
        known = {place.index: place for place in places}
        for index, application in enumerate(world.applications.values()):
            assert application.error is None, application.error
            assert application.node is not None
            got = [t.values for t in world.ledger.takings if t.reader == application.node.address]
            mine = [element for element in remaining if element.lane % count == index]
            assert got == [element.values for element in mine[: len(got)]]
            if life.leave_after[index] is None:
                assert len(got) == len(mine)
            taken: list[Element] = mine[: len(got)]
            remaining = [element for element in remaining if element not in taken]
            known |= application.places
        places = tuple(known.values())
    assert not remaining
