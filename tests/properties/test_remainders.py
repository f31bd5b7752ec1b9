"""Consumers that must get the same number of elements do, step by step together, whatever happens meanwhile."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.properties.test_resume import BOOT_NS, HARMLESS, WORLD_NS
from tfsvc.errors import Code
from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.messages import OrderDef, Remainder, ShardingPolicy
from tfsvc_sim.faults import Fault, apply
from tfsvc_sim.faults.bounds import bounded
from tfsvc_sim.faults.menu import usual
from tfsvc_sim.judging.sequence import sequence
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.nodes.application import Habits, Together
from tfsvc_sim.nodes.pool import Speed
from tfsvc_sim.nodes.tempo import Tempo
from tfsvc_sim.nodes.world import Consumer, World
from tfsvc_sim.playing.workloads import Workload, kinds_for

faults = st.builds(
    usual, slot=st.integers(0, 8), kind=st.sampled_from(HARMLESS), target=st.integers(0, 3), span=st.integers(1, 12)
)


def start(world: World, load: Workload, order: OrderDef, consumers: int, together: Together | None = None) -> None:
    """A job with all of its consumers, which may step together."""
    world.add_dispatcher()
    for _ in range(2):
        world.add_worker(Speed(checkpoint_every=4))
    dataset_id = world.register(load.name, load.definition())
    world.run(BOOT_NS)
    for index in range(consumers):
        role = Consumer(order, index, consumers, together=together)
        world.add_reader(dataset_id, job="job", habits=Habits(think_ns=MILLISECOND), role=role)


@settings(deadline=None)
@given(
    st.builds(Workload, kind=st.sampled_from(kinds_for(ShardingPolicy.DYNAMIC)), size=st.integers(0, 64)),
    st.builds(
        OrderDef,
        lanes=st.integers(4, 6),
        block=st.integers(1, 4),
        remainder=st.sampled_from([Remainder.DROP, Remainder.PAD, Remainder.WRAP]),
    ),
    st.integers(1, 4),
    st.integers(0, 9),
    st.lists(faults, max_size=3),
)
@example(Workload("filter", 33), OrderDef(4, 1, 0, Remainder.PAD), 3, 0, [])
def test_all_consumers_take_the_same_number_of_steps(
    load: Workload, order: OrderDef, consumers: int, seed: int, happening: list[Fault]
) -> None:
    world = World(seed, engine=HeapEngine(seed))
    together = Together()
    start(world, load, order, consumers, together)
    apply(bounded(happening, len(world.workers)), world)
    assert world.run_until(world.all_left, WORLD_NS), "somebody waits for ever"
    wanted = sequence(load.definition(), order, consumers)
    drop = order.remainder is Remainder.DROP
    steps = min(map(len, wanted)) if drop else max(map(len, wanted))
    assert [member.steps for member in together.members] == [steps] * consumers
    for member, want in zip(together.members, wanted, strict=True):
        assert member.error is None
        assert member.node is not None
        got = [taking.values for taking in world.ledger.takings if taking.reader == member.node.address]
        assert got == want[:steps]
        assert member.made_up == steps - len(got)


@pytest.mark.parametrize("remainder", [Remainder.DROP, Remainder.PAD])
def test_a_consumer_that_is_missing_is_named_in_time(remainder: Remainder) -> None:
    tempo = Tempo()
    tempo = replace(tempo, client=replace(tempo.client, consumers_timeout_ns=2 * SECOND))
    world = World(1, tempo)
    load = Workload("range", 33)
    start(world, load, OrderDef(4, 1, 0, remainder), 3)
    world.kill("reader1")
    assert world.run_until(lambda: all(a.error or a.died for a in world.applications.values()), 20 * SECOND)
    for name in ("reader0", "reader2"):
        error = world.applications[name].error
        assert error is not None
        assert error.code == Code.DEADLINE_EXCEEDED
        assert "Consumers 1 have not gone beyond element" in error.message


def test_a_consumer_that_comes_back_goes_on_with_the_others() -> None:
    world = World(1)
    load, order = Workload("range", 60), OrderDef(4, 1, 0, Remainder.DROP)
    world.add_dispatcher()
    world.add_worker()
    dataset_id = world.register(load.name, load.definition())
    world.run(BOOT_NS)
    early = world.add_reader(dataset_id, job="job", habits=Habits(leave_after=7), role=Consumer(order, 0, 2))
    other = world.add_reader(dataset_id, job="job", role=Consumer(order, 1, 2))
    assert world.run_until(lambda: early.done, WORLD_NS)
    again = world.add_reader(dataset_id, job="job", role=Consumer(order, 0, 2, tuple(early.places.values())))
    assert world.run_until(world.all_left, WORLD_NS)
    assert (early.taken, again.taken, other.taken) == (7, 23, 30)
