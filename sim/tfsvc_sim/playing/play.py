"""Playing: a scenario becomes a world, runs to its end, and is judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc_sim.faults import apply
from tfsvc_sim.faults.bounds import beyond
from tfsvc_sim.judging.claims import Claim, Looking
from tfsvc_sim.judging.verdict import Verdict, judge
from tfsvc_sim.nodes.application import Habits
from tfsvc_sim.nodes.pool import Speed
from tfsvc_sim.nodes.tempo import TEMPOS, Tempo
from tfsvc_sim.nodes.world import Consumer, World, worker_address
from tfsvc_sim.playing.scenario import Outcome, Scenario

BOOT_NS: Final = 50 * MILLISECOND
"""What workers have to register before readers and faults begin."""
PATIENCE_NS: Final = 60 * SECOND
"""How long there may be no progress when the faults are over."""
EVENTS_MAX: Final = 10_000
EVENTS_PER_ELEMENT: Final = 100
"""A run with more events than that, for each of its nodes, goes round in circles."""
SLOWEST: Final = 20
"""How many times as long as one worker and one reader would take all may take, or it goes on for ever."""


def consumer(scenario: Scenario, reader: int) -> Consumer:
    """A reader's part in its job: those who share an ordered one are its consumers."""
    if not scenario.lanes:
        return Consumer()
    if not scenario.shared:
        return Consumer(scenario.order)
    return Consumer(scenario.order, reader, len(scenario.readers))


MakeWorld = Callable[[int, Tempo], World]


def play(scenario: Scenario, make: MakeWorld = World, claims: Sequence[Claim] = ()) -> Verdict:
    """Runs a scenario to its end and judges it.

    Args:
      scenario: what is played.
      make: makes the world, of a seed and a tempo.
      claims: what must hold beside the oracles.
    """
    return run(scenario, make(scenario.seed, TEMPOS[scenario.tempo]), claims)


def run(scenario: Scenario, world: World, claims: Sequence[Claim] = ()) -> Verdict:
    """The same in a fresh world that stays, for people to look at."""
    world, in_time, looking = _stage(scenario, world, claims)
    verdict = judge(scenario, world, in_time)
    problems = (*verdict.problems, *looking.problems(world.faults_over))
    return replace(verdict, problems=problems, marks=(*verdict.marks, *looking.marks()))


def stage(scenario: Scenario, world: World) -> tuple[World, bool]:
    """Runs a scenario in a fresh world; whether every reader had its end in time."""
    world, in_time, _ = _stage(scenario, world, ())
    return world, in_time


def _stage(scenario: Scenario, world: World, claims: Sequence[Claim]) -> tuple[World, bool, Looking]:
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
    looking = Looking(claims, world)
    enough = SLOWEST * _work_ns(scenario)
    nodes = len(scenario.workers) + len(scenario.readers)
    events_max = nodes * (EVENTS_MAX + EVENTS_PER_ELEMENT * scenario.workload.elements)
    end = apply(scenario.faults, world)

    def over() -> bool:
        return world.all_left() or world.trace.count > events_max

    if not world.run_until(over, end):
        while not world.run_until(over, PATIENCE_NS):
            still = world.now - max(world.faults_over, _progressed_at(world)) >= PATIENCE_NS
            if still or world.now - world.faults_over > PATIENCE_NS + enough:
                break
    looking.look()
    return world, world.all_left(), looking


def _work_ns(scenario: Scenario) -> int:
    """How long one worker and one reader would take for all of it."""
    slowest = max(plan.element_ms for plan in scenario.workers) + max(plan.think_ms for plan in scenario.readers)
    return len(scenario.workload.values()) * slowest * max(1, len(scenario.readers)) * MILLISECOND


def _progressed_at(world: World) -> int:
    """When an element was taken, or a reader left, for the last time."""
    left = [a.left_at for a in world.applications.values() if a.left_at is not None]
    return max((*left, *(taking.at for taking in world.ledger.takings[-1:])), default=0)
