"""A dispatcher that comes back with nothing: whoever worked with the old one is told, and nobody is mixed up."""

from __future__ import annotations

from tfsvc.errors import Code
from tfsvc.protocol.ids import SECOND
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.nodes.application import Habits
from tfsvc_sim.nodes.tempo import DISPATCHER
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.workloads import Workload

OLD, NEW = Workload("range", 400), Workload("map", 30)
SLOW = Habits(think_ns=SECOND // 50)


def make() -> tuple[World, str]:
    world = World(3, engine=HeapEngine(3))
    world.add_dispatcher()
    world.add_worker()
    return world, world.register("old", OLD.definition())


def lose_everything(world: World) -> None:
    world.crash(DISPATCHER)
    world.wipe(DISPATCHER)
    world.restart(DISPATCHER)


def test_a_reader_of_the_old_state_fails_soon_and_says_what_to_do() -> None:
    world, dataset = make()
    reader = world.add_reader(dataset, habits=SLOW)
    world.run(SECOND)
    assert 0 < len(world.ledger.takings) < 400
    lose_everything(world)
    assert world.run_until(lambda: reader.done, 5 * SECOND)
    assert reader.error is not None
    assert reader.error.code is Code.NOT_FOUND
    assert "whose state was lost. Make a new iterator." in reader.error.message


def test_ids_of_the_old_state_mean_nothing_to_the_new_one() -> None:
    """The second reader is the first of the new state, as the first was of the old one."""
    world, dataset = make()
    old = world.add_reader(dataset, habits=SLOW)
    world.run(SECOND)
    lose_everything(world)
    new = world.add_reader(world.register("new", NEW.definition()), job="new")
    assert world.run_until(lambda: old.done and new.done, 20 * SECOND)
    assert old.error is not None
    assert new.error is None
    assert sorted(value for taking in world.ledger.of("new") for value in taking.values) == sorted(NEW.values())


def test_a_reader_may_begin_anew_under_the_same_names() -> None:
    world, dataset = make()
    world.add_reader(dataset, job="job", habits=SLOW)
    world.run(SECOND)
    lose_everything(world)
    again = world.add_reader(world.register("old", OLD.definition()), job="job")
    assert world.run_until(lambda: again.done, 60 * SECOND)
    assert again.error is None
    taken = [v for t in world.ledger.of("job") if t.reader == "reader1" for v in t.values]
    assert sorted(taken) == sorted(OLD.values())


def test_a_state_that_was_kept_is_the_same_state() -> None:
    world, dataset = make()
    reader = world.add_reader(dataset)
    world.run(SECOND // 2)
    world.crash(DISPATCHER)
    world.restart(DISPATCHER)
    assert world.run_until(lambda: reader.done, 60 * SECOND)
    assert reader.error is None
    assert len(world.ledger.takings) == 400
