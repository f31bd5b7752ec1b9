"""Fault records: they do to a world what they say, and end when they say."""

from __future__ import annotations

import pytest

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc_sim.faults import SLOT_NS, Fault, FaultKind, apply
from tfsvc_sim.workloads import Workload
from tfsvc_sim.world import World


@pytest.fixture
def world() -> World:
    made = World(0, keep=True)
    made.add_dispatcher()
    made.add_worker()
    made.add_worker()
    made.add_reader(made.register("range-8", Workload("range", 8).definition()))
    return made


def test_a_crash_ends_with_a_restart(world: World) -> None:
    assert apply([Fault(1, FaultKind.CRASH, target=3, span=2)], world) == 3 * SLOT_NS
    world.run(2 * SLOT_NS)
    assert not world.nodes["worker1"].alive, "targets are counted around the workers"
    world.run(2 * SLOT_NS)
    assert world.nodes["worker1"].incarnation == 2


def test_the_last_worker_is_never_killed(world: World) -> None:
    apply([Fault(0, FaultKind.KILL, target=0), Fault(1, FaultKind.KILL, target=1), Fault(2, FaultKind.CRASH)], world)
    world.run(SECOND)
    assert [world.nodes[worker].alive for worker in world.workers] == [False, True]


def test_faults_may_overlap_on_one_node(world: World) -> None:
    kinds = (FaultKind.CRASH, FaultKind.PAUSE, FaultKind.POWER_LOSS, FaultKind.SLOW, FaultKind.CRASH)
    apply([Fault(i // 2, kind, span=3) for i, kind in enumerate(kinds)], world)
    world.run(SECOND)
    assert world.nodes["worker0"].alive
    assert world.run_until(world.all_left, 60 * SECOND)


def test_a_cut_is_lifted_when_its_time_is_over(world: World) -> None:
    apply([Fault(0, FaultKind.CUT_DISPATCHER, target=0, span=20)], world)
    world.run(20 * SLOT_NS + MILLISECOND)
    heard = [entry for entry in world.trace.entries if entry.where == "worker0.1" and "< dispatcher" in entry.what]
    world.run(2 * SECOND)
    later = [entry for entry in world.trace.entries if entry.where == "worker0.1" and "< dispatcher" in entry.what]
    assert len(later) > len(heard)


@pytest.mark.parametrize("kind", list(FaultKind))
def test_every_kind_of_fault_ends_well(world: World, kind: FaultKind) -> None:
    apply([Fault(0, kind, span=4)], world)
    assert world.run_until(world.all_left, 60 * SECOND)
