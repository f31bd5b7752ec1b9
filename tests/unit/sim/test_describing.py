"""A simulated cluster is asked what it looks like, as a real one is."""

from __future__ import annotations

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc_sim.kernel.wire import through_codec
from tfsvc_sim.nodes.application import Habits
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.workloads import Workload

DATASET = Workload("range", 5000).definition()


def running(seed: int = 0) -> World:
    world = World(seed, translate=through_codec)
    world.add_dispatcher()
    for _ in range(2):
        world.add_worker()
    world.add_reader(world.register("numbers", DATASET), job="shared", habits=Habits(think_ns=10 * MILLISECOND))
    world.run(SECOND)
    return world


def test_a_simulated_cluster_is_described_over_its_network():
    world = running()
    told = world.describe()
    assert [worker.address for worker in told.workers] == world.workers
    assert told.census.lanes == told.census.tasks == 2
    (reader,) = told.readers
    assert reader.consumption is not None
    assert 0 < reader.consumption.elements == told.tally.elements <= len(world.ledger.takings)
    assert reader.consumption.waited_ns < reader.consumption.age_ns


def test_a_dispatcher_that_comes_back_tells_of_what_it_kept():
    world = running()
    before = world.describe()
    world.crash(world.dispatcher)
    world.restart(world.dispatcher)
    after = world.describe()
    assert after.incarnation == before.incarnation + 1
    assert after.up_ns < before.up_ns
    assert [job.name for job in after.jobs] == ["shared"]
    assert after.iterations[0].splits >= before.iterations[0].splits


def test_a_description_is_a_function_of_the_seed():
    assert running(7).describe() == running(7).describe()
