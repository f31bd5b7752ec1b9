"""Delivery: whatever happens, every element reaches an application exactly once.

Hypothesis draws topology and workload first, small ones first, then a list of faults that it can delete
one by one; everything finer comes from one fixed seed. A failure is printed as a scenario in JSON.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import example, given, note
from hypothesis import strategies as st

from tfsvc.protocol.messages import ShardingPolicy
from tfsvc_sim.faults import Edge, Message, Record, Taken
from tfsvc_sim.faults.bounds import bounded
from tfsvc_sim.faults.menu import SLOT_MS, FaultKind, usual
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.nodes.tempo import TEMPOS
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.play import play
from tfsvc_sim.playing.scenario import ReaderPlan, Scenario, WorkerPlan
from tfsvc_sim.playing.swarm import CALLS, RECORDS
from tfsvc_sim.playing.workloads import Workload, kinds_for

SLOTS = 8

moments_ms = st.integers(0, SLOTS).map(lambda slot: slot * SLOT_MS)
workers = st.builds(WorkerPlan, joins_ms=moments_ms, element_ms=st.integers(1, 12))
readers = st.builds(
    ReaderPlan,
    joins_ms=moments_ms,
    think_ms=st.integers(0, 8),
    leave_after=st.none() | st.integers(1, 12),
    ahead=st.booleans(),
)
moments = st.one_of(
    st.builds(Taken, nth=st.integers(1, 40)),
    st.builds(Record, name=st.sampled_from(RECORDS), nth=st.integers(1, 12)),
    st.builds(Message, method=st.sampled_from(CALLS), nth=st.integers(1, 12), edge=st.sampled_from(Edge)),
)
timed = st.builds(
    usual,
    slot=st.integers(0, SLOTS),
    kind=st.sampled_from(FaultKind),
    target=st.integers(0, 3),
    span=st.integers(1, 20),
)

set_off = st.builds(lambda fault, moment: replace(fault, at_ms=0, upon=moment), timed, moments)
faults = timed | set_off


def scenarios(policy: ShardingPolicy, lanes: tuple[int, ...] = (0,)) -> st.SearchStrategy[Scenario]:
    found = st.builds(
        Scenario,
        workload=st.builds(Workload, kind=st.sampled_from(kinds_for(policy)), size=st.integers(0, 64)),
        policy=st.just(policy),
        workers=st.lists(workers, min_size=1, max_size=4).map(tuple),
        readers=st.lists(readers, min_size=1, max_size=3).map(tuple),
        shared=st.booleans(),
        lanes=st.sampled_from(lanes),
        tempo=st.sampled_from(list(TEMPOS)),
        checkpoint_every=st.sampled_from([256, 16, 4, 1]),
        faults=st.lists(faults, max_size=6).map(tuple),
    )
    return found.map(lambda s: replace(s, faults=bounded(s.faults, len(s.workers))))


def check(scenario: Scenario) -> None:
    note(scenario.to_json())
    verdict = play(scenario, lambda seed, tempo: World(seed, tempo, engine=HeapEngine(seed)))
    assert not verdict.problems, "\n".join(verdict.problems)


TORN_STEP = Scenario(
    seed=102085,
    workload=Workload("flat_map", 3),
    readers=(ReaderPlan(think_ms=5, ahead=True), ReaderPlan(think_ms=4), ReaderPlan(joins_ms=300, think_ms=4)),
    faults=(usual(0, FaultKind.RESTART_DISPATCHER, span=3), usual(5, FaultKind.RESTART_DISPATCHER, span=2)),
)
"""The dispatcher crashes while an iteration's tasks are on their way to the disk."""


LOST_GOODBYE = Scenario(
    seed=11367,
    workload=Workload("repeat", 20),
    workers=(WorkerPlan(element_ms=10), WorkerPlan(element_ms=2)),
    readers=(ReaderPlan(think_ms=4, ahead=True), ReaderPlan(think_ms=6), ReaderPlan(think_ms=7, leave_after=11)),
    checkpoint_every=256,
    tempo="impatient",
    faults=(
        usual(1, FaultKind.REORDER, 0, 20),
        usual(2, FaultKind.PAUSE, 3, 12),
        usual(1, FaultKind.STOP, 1, 20),
        usual(4, FaultKind.LOSS, 2, 12),
        usual(3, FaultKind.DUPLICATE, 2, 5),
        usual(1, FaultKind.DUPLICATE, 3, 5),
    ),
)
"""A reader has had its end, its goodbye is lost, and another leaves lanes behind."""


READ_TO_ITS_END_BY_ANOTHER = Scenario(
    seed=354,
    workload=Workload("interleave", 20),
    policy=ShardingPolicy.DATA,
    workers=(WorkerPlan(element_ms=3), WorkerPlan(element_ms=8), WorkerPlan(element_ms=11), WorkerPlan(element_ms=2)),
    readers=(ReaderPlan(think_ms=1), ReaderPlan()),
    tempo="impatient",
    faults=(usual(3, FaultKind.KILL, 2, 20), usual(4, FaultKind.CUT_DISPATCHER_ONEWAY, 1)),
)
"""One reader has met the end of a shard whose worker is then gone for good, the other one has not."""


@given(scenarios(ShardingPolicy.DYNAMIC))
@example(TORN_STEP)
@example(LOST_GOODBYE)
def test_dynamic_sharding_delivers_exactly_once(scenario: Scenario) -> None:
    check(scenario)


@given(st.sampled_from([policy for policy in ShardingPolicy if policy.static]).flatmap(scenarios))
@example(READ_TO_ITS_END_BY_ANOTHER)
def test_static_sharding_delivers_exactly_once_what_workers_come_back_for(scenario: Scenario) -> None:
    check(scenario)


@given(scenarios(ShardingPolicy.DYNAMIC, lanes=(3, 4, 8)))
def test_an_ordered_job_gives_every_consumer_its_sequence(scenario: Scenario) -> None:
    check(scenario)


@given(scenarios(ShardingPolicy.OFF))
def test_without_sharding_every_life_of_a_worker_delivers_once(scenario: Scenario) -> None:
    check(scenario)


@given(scenarios(ShardingPolicy.DYNAMIC))
def test_a_scenario_survives_its_json(scenario: Scenario) -> None:
    assert Scenario.from_json(scenario.to_json()) == scenario
