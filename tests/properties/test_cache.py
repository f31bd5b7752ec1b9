"""The trainers' cache in simulation: what a trainer did not get was counted, whatever is lost on the way."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tfsvc.protocol.client.machine import Client
from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.messages import ShardingPolicy
from tfsvc_sim.faults import Fault, apply
from tfsvc_sim.faults.bounds import bounded
from tfsvc_sim.faults.menu import FaultKind, usual
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.nodes.application import Habits
from tfsvc_sim.nodes.tempo import TEMPOS
from tfsvc_sim.nodes.world import Consumer, World
from tfsvc_sim.playing.workloads import Workload

BOOT_NS = 50 * MILLISECOND
PATIENCE_NS = 120 * SECOND
SIZE = 80
faults = st.builds(
    usual, slot=st.integers(0, 12), kind=st.sampled_from(FaultKind), target=st.integers(0, 2), span=st.integers(1, 30)
)
thoughts = st.lists(st.integers(0, 40), min_size=1, max_size=3)


def read(seed: int, thinks: list[int], workers: int, cache_bytes: int, happening: list[Fault]) -> World:
    """Plays trainers that share a cache, each at its pace, to the end of the data."""
    usual = TEMPOS["usual"]
    tempo = replace(usual, worker=replace(usual.worker, cache_bytes=cache_bytes))
    world = World(seed, tempo, engine=HeapEngine(seed))
    world.add_dispatcher()
    for _ in range(workers):
        world.add_worker()
    load = Workload("range", SIZE)
    dataset_id = world.register(load.name, load.definition())
    world.run(BOOT_NS)
    for number, think_ms in enumerate(thinks):
        role = Consumer(trainer_id=f"trainer{number}")
        habits = Habits(think_ns=think_ms * MILLISECOND)
        world.add_reader(dataset_id, ShardingPolicy.OFF, "cache", habits, role=role)
    end = apply(bounded(happening, len(world.workers)), world)
    assert world.run_until(world.all_left, end + PATIENCE_NS), "somebody waits for ever"
    return world


def check(world: World) -> None:
    """Each trainer's elements of one life of a worker ascend, and all that is left out was counted as missed."""
    for name, application in world.applications.items():
        assert application.error is None, (name, application.error)
        streams: dict[int, list[int]] = defaultdict(list)
        for taking in world.ledger.takings:
            if taking.reader == name:
                streams[taking.stream] += taking.values
        gaps = 0
        for values in streams.values():
            assert values == sorted(set(values)), "an element came twice"
            gaps += values[-1] + 1 - len(values)
        role = world.nodes[name].role
        if name not in world.killed:
            assert isinstance(role, Client)
            assert role.view().missed == gaps, f"{name} was told of other losses than it had"


@settings(deadline=None)
@given(st.integers(0, 99), thoughts, st.integers(1, 3), st.sampled_from([200, 1 << 20]), st.lists(faults, max_size=3))
@example(0, [0, 30], 1, 200, [])
@example(1, [0, 5], 1, 1 << 20, [usual(1, FaultKind.LOSS, 0, 30)])
@example(2, [1], 2, 1 << 20, [usual(2, FaultKind.RESTART_DISPATCHER, 0, 5), usual(3, FaultKind.CRASH, 0, 5)])
def test_what_a_trainer_does_not_get_is_counted(
    seed: int, thinks: list[int], workers: int, cache_bytes: int, happening: list[Fault]
) -> None:
    check(read(seed, thinks, workers, cache_bytes, happening))


def test_nothing_is_missed_where_the_cache_holds_everything() -> None:
    world = read(3, [0, 10], 2, 1 << 20, [usual(1, FaultKind.LOSS, 0, 20)])
    check(world)
    for name in world.applications:
        assert sum(len(t.values) for t in world.ledger.takings if t.reader == name) == 2 * SIZE


def test_a_slow_trainer_misses_some_where_it_does_not() -> None:
    world = read(4, [0, 30], 1, 200, [])
    check(world)
    fast, slow = (sum(t.reader == name for t in world.ledger.takings) for name in world.applications)
    assert slow < fast == SIZE
