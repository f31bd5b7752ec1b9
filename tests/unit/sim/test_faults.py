"""Fault records: they do to a world what they say, and end when they say."""

from __future__ import annotations

import pytest

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc_sim.faults import (
    Aftermath,
    BitRot,
    ClockDrift,
    ClockJump,
    Crash,
    Cut,
    Fault,
    FullDisk,
    Lose,
    OldVersion,
    Pause,
    Preempt,
    Slow,
    Stop,
    Swizzle,
    apply,
    label,
)
from tfsvc_sim.faults.bounds import beyond, bounded
from tfsvc_sim.faults.menu import SLOT_MS, FaultKind, usual, what
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.play import play
from tfsvc_sim.playing.scenario import Scenario, workers
from tfsvc_sim.playing.workloads import Workload

SLOT_NS = SLOT_MS * MILLISECOND


@pytest.fixture
def world() -> World:
    made = World(0, keep=True)
    made.add_dispatcher()
    made.add_worker()
    made.add_worker()
    made.add_reader(made.register("range-8", Workload("range", 8).definition()))
    return made


def test_a_crash_ends_with_a_restart(world: World) -> None:
    assert apply([usual(1, FaultKind.CRASH, target=3, span=2)], world) == 3 * SLOT_NS
    world.run(2 * SLOT_NS)
    assert not world.nodes["worker1"].alive, "targets are counted around the workers"
    world.run(2 * SLOT_NS)
    assert world.nodes["worker1"].incarnation == 2


def test_faults_may_overlap_on_one_node(world: World) -> None:
    kinds = (FaultKind.CRASH, FaultKind.PAUSE, FaultKind.POWER_LOSS, FaultKind.SLOW, FaultKind.CRASH)
    apply([usual(i // 2, kind, span=3) for i, kind in enumerate(kinds)], world)
    world.run(SECOND)
    assert world.nodes["worker0"].alive
    assert world.run_until(world.all_left, 60 * SECOND)


def test_a_cut_is_lifted_when_its_time_is_over(world: World) -> None:
    apply([usual(0, FaultKind.CUT_DISPATCHER, target=0, span=20)], world)
    world.run(20 * SLOT_NS + MILLISECOND)
    heard = [entry for entry in world.trace.entries if entry.where == "worker0.1" and "< dispatcher" in entry.what]
    world.run(2 * SECOND)
    later = [entry for entry in world.trace.entries if entry.where == "worker0.1" and "< dispatcher" in entry.what]
    assert len(later) > len(heard)


@pytest.mark.parametrize("kind", list(FaultKind))
def test_every_kind_of_fault_ends_well(world: World, kind: FaultKind) -> None:
    apply([usual(0, kind, span=4)], world)
    assert world.run_until(world.all_left, 60 * SECOND)


def test_a_paused_host_finds_that_its_clock_has_leapt(world: World) -> None:
    node = world.nodes["worker0"]
    before = node.clock.reads(world.now)
    apply([Fault(ClockJump("worker0", ahead_ms=500)), Fault(ClockDrift("worker1", ppm=100_000), for_ms=1000)], world)
    world.run(SECOND + 1)
    assert node.clock.reads(world.now) - before == SECOND + 1 + SECOND // 2
    fast = world.nodes["worker1"].clock
    assert fast.reads(world.now + 100) - fast.reads(world.now) == 100, "it is set right when the fault is over"


def test_a_preempted_worker_has_its_notice(world: World) -> None:
    apply([Fault(Preempt("worker1", notice_ms=100), at_ms=50, for_ms=400)], world)
    world.run(SECOND)
    told = [e.what for e in world.trace.entries if e.where.startswith("worker1")]
    assert "is asked to end" in told
    assert world.nodes["worker1"].incarnation == 2


def test_a_slow_worker_is_slow_in_its_next_life_too(world: World) -> None:
    apply([Fault(Slow("worker0", 5), for_ms=500), Fault(Crash("worker0"), at_ms=100, for_ms=100)], world)
    world.run(300 * MILLISECOND)
    pool = world.nodes["worker0"].pool
    assert pool is not None
    assert pool.factor == 5
    world.run(300 * MILLISECOND)
    assert pool.factor == 1


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (Fault(Slow("reader0")), "reader0 runs no pipelines, so it cannot be slow; workers do"),
        (Fault(Stop("reader0")), "reader0 is no worker, and nobody else can be asked to end"),
        (Fault(Preempt("dispatcher")), "dispatcher is no worker"),
        (Fault(Crash("workerx")), "there is no node 'workerx'"),
        (Fault(FullDisk("worker0")), "worker0 has no disk; only the dispatcher has one"),
    ],
)
def test_what_cannot_befall_a_node_is_refused(world: World, fault: Fault, why: str) -> None:
    apply([fault], world)
    with pytest.raises(ValueError, match=why):
        world.run(SECOND)


def test_a_reader_that_died_stays_dead(world: World) -> None:
    apply([Fault(Crash("reader0"), for_ms=50)], world)
    world.run(SECOND)
    assert not world.nodes["reader0"].alive
    assert "reader0" in world.killed


def test_swizzled_nodes_are_all_free_in_the_end(world: World) -> None:
    apply([Fault(Swizzle(nodes=3, shuffle=4), for_ms=700)], world)
    world.run(350 * MILLISECOND)
    assert any(installed.held for installed in world.network.rules)
    world.run(400 * MILLISECOND)
    assert world.network.rules == []
    assert world.run_until(world.all_left, 60 * SECOND)


def test_a_dispatcher_refuses_a_journal_with_a_changed_bit_until_it_is_restored(world: World) -> None:
    apply([Fault(BitRot(), at_ms=20, for_ms=400)], world)
    world.run(300 * MILLISECOND)
    assert not world.nodes["dispatcher"].alive
    (refusal,) = [e.what for e in world.trace.entries if e.what.startswith("cannot start")]
    assert "is damaged" in refusal
    world.run(300 * MILLISECOND)
    assert world.nodes["dispatcher"].alive
    assert world.run_until(world.all_left, 60 * SECOND)


def test_a_dispatcher_on_another_ones_disk_tells_its_readers(world: World) -> None:
    apply([Fault(Crash("dispatcher", Aftermath.SWAPPED), at_ms=20, for_ms=100)], world)
    assert world.run_until(world.all_left, 60 * SECOND)
    error = world.applications["reader0"].error
    assert error is not None
    assert "state was lost" in error.message


@pytest.mark.parametrize(
    ("faults", "why"),
    [
        ([Fault(Crash("worker0"), for_ms=None), Fault(Crash("worker3"), for_ms=None)], "no worker"),
        ([Fault(Cut("dispatcher", "worker0"), for_ms=None), Fault(Pause("worker1"), for_ms=None)], "no worker"),
        ([Fault(Crash("dispatcher"), for_ms=None)], "gone for good"),
        ([Fault(Crash("dispatcher", Aftermath.WIPED))], "loses its journal"),
        ([Fault(Cut("reader0", "dispatcher"), for_ms=None)], "never reaches"),
        ([Fault(Pause("reader0"), for_ms=4_000), Fault(Cut("reader1", "dispatcher"), for_ms=4_000)], "silent for 8000"),
        ([Fault(BitRot(), for_ms=None)], "never mended"),
        ([Fault(Lose(1.0), for_ms=None)], "no network"),
        ([Fault(OldVersion("worker1", newest=1000))], "too old"),
    ],
)
def test_what_cannot_be_survived_is_named(faults: list[Fault], why: str) -> None:
    found = beyond(faults, 2)
    assert found is not None
    assert why in found
    assert beyond(bounded(faults, 2), 2) is None
    with pytest.raises(ValueError, match="no cluster survives that"):
        play(Scenario(workers=workers(2), faults=tuple(faults)))


@pytest.mark.parametrize("kind", list(FaultKind))
def test_what_random_runs_draw_can_be_survived(kind: FaultKind) -> None:
    assert beyond([usual(0, kind, span=20)], 2) is None


def test_every_kind_has_a_label_of_its_own_but_for_how_long_it_lasts() -> None:
    once = [kind for kind in FaultKind if kind not in (FaultKind.KILL, FaultKind.CUT_FOR_GOOD)]
    labels = [label(what(kind, 1)) for kind in once]
    assert len(set(labels)) == len(labels)
    assert label(Cut("dispatcher", "worker7", oneway=True)) == "Cut dispatcher worker oneway"
    assert label(Crash("dispatcher", Aftermath.LOST, silent=True)) == "Crash dispatcher lost silent"
