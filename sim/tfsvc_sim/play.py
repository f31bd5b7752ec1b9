"""Playing: a scenario becomes a world, runs to its end, and is judged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc_sim.application import Habits
from tfsvc_sim.bounds import beyond
from tfsvc_sim.faults import apply
from tfsvc_sim.pool import Speed
from tfsvc_sim.scenario import Outcome, Scenario
from tfsvc_sim.tempo import TEMPOS, Tempo
from tfsvc_sim.verdict import Verdict, judge
from tfsvc_sim.world import Consumer, World, worker_address

BOOT_NS: Final = 50 * MILLISECOND
"""What workers have to register before readers and faults begin."""
PATIENCE_NS: Final = 60 * SECOND
"""How long there may be no progress when the faults are over."""


def consumer(scenario: Scenario, reader: int) -> Consumer:
    """A reader's part in its job: those who share an ordered one are its consumers."""
    if not scenario.lanes:
        return Consumer()
    if not scenario.shared:
        return Consumer(scenario.order)
    return Consumer(scenario.order, reader, len(scenario.readers))


MakeWorld = Callable[[int, Tempo], World]


def play(scenario: Scenario, make: MakeWorld = World) -> Verdict:
    """Runs a scenario to its end and judges it."""
    return judge(scenario, *stage(scenario, make(scenario.seed, TEMPOS[scenario.tempo])))


def stage(scenario: Scenario, world: World) -> tuple[World, bool]:
    """Runs a scenario in a fresh world; whether every reader had its end in time.

    When the temporary faults are over, the core of the cluster is whole and stays so: then there must be progress, an
    element taken or a reader at its end, in every ``PATIENCE_NS``.

    Raises:
      ValueError: if its faults go beyond what its outcome survives.
    """
    if scenario.outcome is Outcome.DELIVERED and (why := beyond(scenario.faults, len(scenario.workers))):
        raise ValueError(f"no cluster survives that {why}; name another outcome than {scenario.outcome.value!r}")
    if scenario.calm_after is not None:
        world.engine.ties.calm_after = scenario.calm_after
    world.add_dispatcher([worker_address(i) for i in range(len(scenario.workers))] if scenario.policy.static else ())
    for plan in scenario.workers:
        speed = Speed(element_ns=plan.element_ms * MILLISECOND, checkpoint_every=scenario.checkpoint_every)
        world.add_worker(speed, start=not plan.joins_ms)
    dataset_id = world.register(scenario.workload.name, scenario.workload.definition())
    world.run(BOOT_NS)
    for i, reading in enumerate(scenario.readers):
        habits = Habits(reading.think_ms * MILLISECOND, reading.leave_after, reading.ahead)
        job = "shared" if scenario.shared else None
        role = consumer(scenario, i)
        world.add_reader(dataset_id, scenario.policy, job, habits, start=False, role=role)
    for worker, plan in zip(world.workers, scenario.workers, strict=True):
        if plan.joins_ms:
            world.at(plan.joins_ms * MILLISECOND, partial(world.restart, worker))
    for reader, reading in zip(world.readers, scenario.readers, strict=True):
        world.at(reading.joins_ms * MILLISECOND, partial(world.join, reader))
    end = apply(scenario.faults, world)
    if world.run_until(world.all_left, end):
        return world, True
    while not world.run_until(world.all_left, PATIENCE_NS):
        if world.now - _progressed_at(world) >= PATIENCE_NS:
            return world, False
    return world, True


def _progressed_at(world: World) -> int:
    """When an element was taken, or a reader left, for the last time."""
    left = [a.left_at for a in world.applications.values() if a.left_at is not None]
    return max((*left, *(taking.at for taking in world.ledger.takings[-1:])), default=0)
