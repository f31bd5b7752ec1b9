"""Coordinated reads in simulation: every step of all consumers is one round of one worker, through joins and losses."""

from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.messages import ShardingPolicy
from tfsvc_sim.faults import Cut, Fault, Preempt, apply
from tfsvc_sim.faults.bounds import bounded
from tfsvc_sim.faults.menu import FaultKind, usual
from tfsvc_sim.judging.ledger import Taking
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.nodes.application import Habits, Together
from tfsvc_sim.nodes.tempo import TEMPOS
from tfsvc_sim.nodes.world import Consumer, World
from tfsvc_sim.playing.workloads import Workload

BOOT_NS = 50 * MILLISECOND
WORLD_NS = 180 * SECOND
KINDS = [kind for kind in FaultKind if kind is not FaultKind.KILL_READER]
"""All but the loss of a consumer, without which the others cannot go on."""
faults = st.builds(
    usual, slot=st.integers(0, 8), kind=st.sampled_from(KINDS), target=st.integers(0, 3), span=st.integers(1, 8)
)


def read(seed: int, size: int, consumers: int, workers: int, late: list[int], happening: list[Fault]) -> World:
    """Plays a coordinated job to its end; ``late``: after how many milliseconds more workers join."""
    world = World(seed, engine=HeapEngine(seed))
    world.add_dispatcher()
    for _ in range(workers):
        world.add_worker()
    load = Workload("range", size)
    dataset_id = world.register(load.name, load.definition())
    world.run(BOOT_NS)
    together = Together()
    for index in range(consumers):
        role = Consumer(index=index, count=consumers, together=together, coordinated=True)
        world.add_reader(dataset_id, ShardingPolicy.OFF, "job", Habits(think_ns=MILLISECOND), role=role)
    for number, at_ms in enumerate(late):
        world.add_worker(start=False)
        world.at(at_ms * MILLISECOND, lambda number=number: world.restart(f"worker{workers + number}"))
    apply(bounded(happening, len(world.workers)), world)
    assert world.run_until(world.all_left, WORLD_NS), "somebody waits for ever"
    return world


def rows(world: World) -> list[tuple[Taking, ...]]:
    """The takings of each step, one of each consumer."""
    by_reader = {name: [t for t in world.ledger.takings if t.reader == name] for name in world.applications}
    assert len({len(takings) for takings in by_reader.values()}) == 1, "not the same number of steps"
    return list(zip(*by_reader.values(), strict=True))


def check_rounds(world: World) -> None:
    for name, application in world.applications.items():
        assert application.error is None, (name, application.error)
    for row in rows(world):
        assert len({taking.worker for taking in row}) == 1, row
        first = row[0].values[0]
        assert [taking.values[0] for taking in row] == list(range(first, first + len(row))), row


@settings(deadline=None)
@given(st.integers(0, 99), st.integers(0, 40), st.integers(1, 4), st.integers(1, 3), st.lists(st.integers(1, 200)))
@example(0, 12, 3, 2, [30])
def test_each_step_is_a_round_of_one_worker_and_no_round_is_left_out(
    seed: int, size: int, consumers: int, workers: int, late: list[int]
) -> None:
    world = read(seed, size, consumers, workers, late[:2], [])
    check_rounds(world)
    made = {}
    for row in rows(world):
        made.setdefault(row[0].worker, []).append(row[0].values[0])
    whole = list(range(0, size - consumers + 1, consumers))
    for worker, firsts in made.items():
        assert firsts == whole, worker
    assert size < consumers or len(made) >= workers


@settings(deadline=None)
@given(
    st.integers(0, 99),
    st.integers(12, 40),
    st.integers(1, 3),
    st.lists(st.integers(1, 200), max_size=1),
    st.lists(faults, max_size=2),
)
@example(0, 12, 1, [], [usual(slot=1, kind=FaultKind.STOP)])
@example(
    52, 19, 1, [], [Fault(Preempt("worker1", 100), at_ms=250, for_ms=400), usual(2, FaultKind.RESTART_DISPATCHER, 2, 5)]
)
@example(1, 12, 2, [], [Fault(Cut("dispatcher", "worker0", oneway=True), at_ms=0, for_ms=None)])
@example(0, 12, 1, [], [usual(slot=0, kind=FaultKind.RESTART_DISPATCHER), usual(slot=3, kind=FaultKind.STOP)])
def test_rounds_stay_rounds_whatever_happens(
    seed: int, size: int, consumers: int, late: list[int], happening: list[Fault]
) -> None:
    world = read(seed, size, consumers, 2, late, happening)
    check_rounds(world)


def test_consecutive_rounds_alternate_between_the_workers() -> None:
    world = read(1, 24, 2, 2, [], [])
    workers = [row[0].worker for row in rows(world)]
    assert all(one != other for one, other in itertools.pairwise(workers))


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 99), st.integers(2, 4), st.integers(0, 60))
def test_a_consumer_that_is_lost_is_named_to_the_others(seed: int, consumers: int, at_slot: int) -> None:
    """Nobody waits for ever, and until then each step was a round."""
    usual = TEMPOS["usual"]
    tempo = replace(usual, client=replace(usual.client, consumers_timeout_ns=3 * SECOND))
    world = World(seed, tempo, engine=HeapEngine(seed))
    world.add_dispatcher()
    world.add_worker()
    load = Workload("range", 400)
    dataset_id = world.register(load.name, load.definition())
    world.run(BOOT_NS)
    for index in range(consumers):
        role = Consumer(index=index, count=consumers, coordinated=True)
        world.add_reader(dataset_id, ShardingPolicy.OFF, "job", Habits(think_ns=MILLISECOND), role=role)
    world.at(at_slot * 5 * MILLISECOND, lambda: world.kill("reader1"))
    assert world.run_until(world.all_left, 30 * SECOND), "somebody waits"
    for name, application in world.applications.items():
        if name != "reader1" and application.ended_at is None:
            assert application.error is not None, name
            assert f"Consumers 1 of {consumers} have not asked" in application.error.message
    by_reader = [[t for t in world.ledger.takings if t.reader == name] for name in world.applications]
    for row in zip(*by_reader, strict=False):
        first = row[0].values[0]
        assert [taking.values[0] for taking in row] == list(range(first, first + consumers)), row
