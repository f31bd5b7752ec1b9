"""Moments: a fault strikes exactly when something happens, on the side of it that was asked for."""

from __future__ import annotations

import pytest

from tfsvc_sim.faults import Aftermath, Crash, Edge, Fault, Message, Record, Taken
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.kernel.trace import Entry
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.play import play, stage
from tfsvc_sim.playing.scenario import Scenario, workers
from tfsvc_sim.playing.workloads import Workload


def run(fault: Fault) -> World:
    scenario = Scenario(workload=Workload("range", 60), workers=workers(2), faults=(fault,))
    world, in_time = stage(scenario, World(0, keep=True, engine=HeapEngine()))
    assert in_time
    assert play(scenario).problems == ()
    return world


def crash(world: World, who: str) -> Entry:
    (found,) = (entry for entry in world.trace.entries if entry.where == who and entry.what == "crashes")
    return found


def leases(world: World, until: int) -> int:
    """How many leases of the first worker the dispatcher had heard before an event."""
    heard = [e for e in world.trace.entries if e.what.startswith("< worker0 LeaseSplits") and e.id < until]
    return len(heard)


def answers(world: World) -> list[int]:
    """When the first worker heard the answers to its leases."""
    return [e.at for e in world.trace.entries if e.where == "worker0.1" and "LeaseSplits's answer" in e.what]


def lease(edge: Edge) -> World:
    return run(Fault(Crash("dispatcher", Aftermath.LOST), upon=Message("LeaseSplits", "worker0", 3, edge), for_ms=300))


def test_before_the_reply_the_request_was_heard_and_its_answer_is_lost():
    world = lease(Edge.BEFORE_REPLY)
    struck = crash(world, "dispatcher.1")
    assert leases(world, struck.id) == 3
    assert len([at for at in answers(world) if at < struck.at + 100_000_000]) == 2


def test_as_the_request_arrives_nothing_was_heard_of_it():
    world = lease(Edge.ARRIVES)
    assert leases(world, crash(world, "dispatcher.1").id) == 2


def test_after_the_reply_its_answer_comes():
    world = lease(Edge.AFTER_REPLY)
    struck = crash(world, "dispatcher.1")
    assert len([at for at in answers(world) if at < struck.at + 100_000_000]) == 3


def test_a_record_is_written_and_not_yet_synced():
    world = run(Fault(Crash("dispatcher", Aftermath.LOST), upon=Record("LeaseSplits", 2), for_ms=100))
    struck = crash(world, "dispatcher.1")
    before = [e for e in world.trace.entries if e.where == "dispatcher.1" and e.id < struck.id]
    assert before[-1].what.startswith("< worker0 OpenLane"), "the second lane's first lease"
    assert before[-1].at == struck.at


def test_a_number_of_elements_was_taken():
    world = run(Fault(Crash("worker1"), upon=Taken(30), for_ms=None))
    struck = crash(world, "worker1.1")
    takings, batch_ns = world.ledger.takings, 20_000_000
    assert takings[29].at <= struck.at < takings[29].at + batch_ns, "a batch is taken when all of it is"


def test_time_counts_from_the_moment_on():
    at_once = run(Fault(Crash("worker1"), upon=Taken(10), for_ms=None))
    later = run(Fault(Crash("worker1"), at_ms=70, upon=Taken(10), for_ms=None))
    assert crash(later, "worker1.1").at == crash(at_once, "worker1.1").at + 70_000_000


def test_a_moment_that_never_comes_changes_nothing():
    world = run(Fault(Crash("worker1"), upon=Taken(61), for_ms=None))
    assert not [e for e in world.trace.entries if e.what == "crashes"]


@pytest.mark.parametrize("name", ["wroker1", "worker", "client0"])
def test_a_name_that_no_node_has_is_refused(name):
    with pytest.raises(ValueError, match="nodes are called dispatcher, worker0"):
        run(Fault(Crash("worker0"), upon=Message("LeaseSplits", name)))
