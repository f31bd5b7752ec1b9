"""Workers that drain in simulation: nothing is lost by their end, and work that can go elsewhere goes there."""

from __future__ import annotations

from collections import Counter

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.messages import ShardingPolicy
from tfsvc_sim.faults import Fault, apply
from tfsvc_sim.faults.bounds import bounded
from tfsvc_sim.faults.menu import FaultKind, usual
from tfsvc_sim.judging.oracles import each_once
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.nodes.application import Habits
from tfsvc_sim.nodes.pool import Speed
from tfsvc_sim.nodes.world import World, worker_address
from tfsvc_sim.playing.workloads import Workload

OFF, DYNAMIC, DATA = ShardingPolicy.OFF, ShardingPolicy.DYNAMIC, ShardingPolicy.DATA
BOOT_NS = 50 * MILLISECOND
PATIENCE_NS = 120 * SECOND
SIZE = 64
MILD = [FaultKind.SLOW, FaultKind.REORDER, FaultKind.DUPLICATE, FaultKind.LOSS, FaultKind.RESTART_DISPATCHER]
mild = st.builds(
    usual, slot=st.integers(0, 8), kind=st.sampled_from(MILD), target=st.integers(0, 2), span=st.integers(1, 10)
)
drains = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 800)), min_size=1, max_size=3)


def read(
    seed: int, policy: ShardingPolicy, workers: int, readers: int, drains: list[tuple[int, int]], faults: list[Fault]
) -> World:
    """Plays a job to its end; ``drains``: which workers are told to drain, and after how many milliseconds."""
    world = World(seed, engine=HeapEngine(seed))
    world.add_dispatcher([worker_address(i) for i in range(workers)] if policy.static else ())
    for _ in range(workers):
        world.add_worker(Speed(element_ns=20 * MILLISECOND))
    load = Workload("range", SIZE)
    dataset_id = world.register(load.name, load.definition())
    world.run(BOOT_NS)
    for _ in range(readers):
        world.add_reader(dataset_id, policy, "job", Habits(think_ns=2 * MILLISECOND))
    world.run(300 * MILLISECOND)  # until all have work
    for worker, at_ms in drains:
        world.at(at_ms * MILLISECOND, lambda worker=worker: world.stop(worker_address(worker % workers), 600 * SECOND))
    end = apply(bounded(faults, len(world.workers)), world)
    assert world.run_until(world.all_left, end + PATIENCE_NS), "somebody waits for ever"
    gone = [worker_address(worker % workers) for worker, _ in drains]
    assert world.run_until(lambda: not any(world.nodes[name].alive for name in gone), end + PATIENCE_NS), "one stays"
    for name, application in world.applications.items():
        assert application.error is None, (name, application.error)
    return world


@settings(deadline=None)
@given(
    st.integers(0, 99),
    st.sampled_from([OFF, DYNAMIC, DATA]),
    st.integers(1, 3),
    st.integers(1, 2),
    drains,
    st.lists(mild, max_size=2),
)
@example(0, OFF, 2, 1, [(0, 0)], [])
@example(1, DYNAMIC, 1, 2, [(0, 10)], [])
def test_nothing_is_lost_by_the_end_of_a_worker(
    seed: int,
    policy: ShardingPolicy,
    workers: int,
    readers: int,
    drains: list[tuple[int, int]],
    faults: list[Fault],
) -> None:
    world = read(seed, policy, workers, readers, drains, faults)
    takings = world.ledger.takings
    if policy is OFF:
        got = Counter(value for taking in takings for value in taking.values)
        assert got == dict.fromkeys(range(SIZE), workers)
    else:
        assert each_once(range(SIZE), 0, takings) == []


def test_lanes_go_to_others_and_the_worker_ends_before_the_data() -> None:
    world = read(5, DYNAMIC, 2, 1, [(0, 100)], [])
    last = max((taking.at for taking in world.ledger.takings if taking.worker == worker_address(0)), default=0)
    assert last < max(taking.at for taking in world.ledger.takings) - 100 * MILLISECOND
