"""Scenarios: a cluster, its work and its faults as one record, and the verdict of playing it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Final

from tfsvc.protocol.dispatcher.machine import Dispatcher
from tfsvc.protocol.dispatcher.state import DispatcherState
from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.messages import ShardingPolicy
from tfsvc.protocol.updates import RegisterWorker
from tfsvc_sim.application import Application, Habits
from tfsvc_sim.faults import SLOT_NS, Fault, FaultKind, apply
from tfsvc_sim.oracles import between, each_once, in_order, lost
from tfsvc_sim.pool import Speed
from tfsvc_sim.tempo import DISPATCHER, TEMPOS, Tempo
from tfsvc_sim.workloads import Workload
from tfsvc_sim.world import World

BOOT_NS: Final = 50 * MILLISECOND
"""What workers have to register before readers and faults begin."""
PATIENCE_NS: Final = 60 * SECOND
"""How long after the last fault every reader must have had its end."""


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """A worker: the slot in which it joins, and how long it makes an element."""

    joins: int = 0
    element_ms: int = 5


@dataclass(frozen=True, slots=True)
class ReaderPlan:
    """A reader: the slot in which it joins, and how it reads; see ``Habits``."""

    joins: int = 0
    think_ms: int = 2
    leave_after: int | None = None
    ahead: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """All that a run depends on.

    Attributes:
      seed: of what is not said here: latencies, ties, backoffs.
      shared: whether the readers share one named job; otherwise each has one of its own.
      checkpoint_every: elements between two checkpoints of a pipeline.
      tempo: the name of one of ``TEMPOS``.
    """

    seed: int = 0
    workload: Workload = field(default_factory=lambda: Workload("range", 40))
    policy: ShardingPolicy = ShardingPolicy.DYNAMIC
    workers: tuple[WorkerPlan, ...] = (WorkerPlan(),)
    readers: tuple[ReaderPlan, ...] = (ReaderPlan(),)
    shared: bool = True
    checkpoint_every: int = 16
    tempo: str = "usual"
    faults: tuple[Fault, ...] = ()

    def to_json(self) -> str:
        """One line, from which ``from_json`` makes the same scenario."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Scenario:
        """The scenario of ``to_json``.

        Raises:
          ValueError: if it is not one.
        """
        try:
            got: dict[str, Any] = json.loads(text)
            return cls(
                seed=got["seed"],
                workload=Workload(**got["workload"]),
                policy=ShardingPolicy(got["policy"]),
                workers=tuple(WorkerPlan(**plan) for plan in got["workers"]),
                readers=tuple(ReaderPlan(**plan) for plan in got["readers"]),
                shared=got["shared"],
                checkpoint_every=got["checkpoint_every"],
                tempo=got["tempo"],
                faults=tuple(Fault(**{**fault, "kind": FaultKind(fault["kind"])}) for fault in got["faults"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is not a scenario: {error}") from error


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a run went.

    Attributes:
      problems: what was wrong, in words; none when all is well.
      digest: of the trace.
      events: how many there were.
      taken: how many elements the applications took.
      met: the faults that began while somebody was reading.
    """

    problems: tuple[str, ...]
    digest: str
    events: int
    taken: int
    met: tuple[FaultKind, ...]


MakeWorld = Callable[[int, Tempo], World]


def play(scenario: Scenario, make: MakeWorld = World) -> Verdict:
    """Runs a scenario to its end and judges it."""
    return judge(scenario, *stage(scenario, make(scenario.seed, TEMPOS[scenario.tempo])))


def stage(scenario: Scenario, world: World) -> tuple[World, bool]:
    """Runs a scenario in a fresh world; whether every reader had its end in time."""
    world.add_dispatcher()
    for plan in scenario.workers:
        speed = Speed(element_ns=plan.element_ms * MILLISECOND, checkpoint_every=scenario.checkpoint_every)
        world.add_worker(speed, start=not plan.joins)
    dataset_id = world.register(scenario.workload)
    world.run(BOOT_NS)
    for reading in scenario.readers:
        habits = Habits(reading.think_ms * MILLISECOND, reading.leave_after, reading.ahead)
        job = "shared" if scenario.shared else None
        world.add_reader(dataset_id, scenario.policy, job, habits, start=False)
    for worker, plan in zip(world.workers, scenario.workers, strict=True):
        if plan.joins:
            world.at(plan.joins * SLOT_NS, partial(world.restart, worker))
    for reader, reading in zip(world.readers, scenario.readers, strict=True):
        world.at(reading.joins * SLOT_NS, partial(world.join, reader))
    end = apply(scenario.faults, world)
    return world, world.run_until(world.all_left, end + PATIENCE_NS)


def judge(scenario: Scenario, world: World, in_time: bool) -> Verdict:
    """Asks every oracle."""
    problems = []
    if not in_time:
        waiting = [name for name, a in world.applications.items() if not a.done and name not in world.killed]
        problems.append(f"{', '.join(waiting)} still waited {PATIENCE_NS // SECOND} s after the last fault was over")
    for name, application in world.applications.items():
        if application.error is not None:
            problems.append(f"{name} was given an error: {application.error.message}")
    # What a reader of an OFF job was sent and never fetched goes to the others, out of order.
    handed_on = scenario.policy == ShardingPolicy.OFF and scenario.shared and len(scenario.readers) > 1
    problems += in_order(world.ledger.takings, scenario.workload.ascending and not handed_on)
    jobs = dict.fromkeys(application.job for application in world.applications.values())
    for job in jobs:
        if scenario.policy == ShardingPolicy.DYNAMIC:
            problems += _exactly_once(scenario, world, job)
        else:
            problems += _once_a_life(scenario, world, job)
    began = BOOT_NS
    met = tuple(f.kind for f in scenario.faults if began + f.slot * SLOT_NS < world.now)
    return Verdict(tuple(problems), world.trace.digest(), world.trace.count, len(world.ledger.takings), met)


def _exactly_once(scenario: Scenario, world: World, job: str) -> list[str]:
    """DYNAMIC: whatever the dispatcher holds for taken was taken once, and in the end that is everything.

    What a reader leaves behind that closes early may find nobody to read it, if the others have gone. What
    a reader took that died may be taken again by others, as far as it could not say so.
    """
    load = scenario.workload
    readers = [a for a in world.applications.values() if a.job == job]
    finished = _finished(world, job)
    takings = tuple(world.ledger.of(job))
    living = [taking for taking in takings if taking.reader not in world.killed]
    problems = each_once(load.values(), load.errors, living, complete=False)
    if finished:
        problems += lost(load.values(), load.errors, takings)
    if not finished and not _excused(world, readers):
        problems.append(f"job {job} was never finished, although somebody read it to the end")
    return problems


def _finished(world: World, job: str) -> bool:
    """Whether the dispatcher counts every element of the job as taken."""
    state = _state(world)
    made = (state.nonces.get(f"{name}/1/job") for name, a in world.applications.items() if a.job == job)
    job_id = next((job_id for job_id in made if job_id is not None), None)
    if job_id is None:
        return False
    iterations = [state.iterations[i] for i in state.jobs[job_id].iterations.values()]
    return bool(iterations) and all(i.exhausted and not i.lanes for i in iterations)


def _excused(world: World, readers: list[Application]) -> bool:
    """Whether some reader closed early, and none was told of the end well after the dispatcher knew that."""
    state = _state(world)
    slack_ns = world.tempo.client.call_timeout_ns
    ended = max((a.ended_at for a in readers if a.ended_at is not None), default=0)
    for reader in readers:
        assert reader.node is not None
        if reader.ended_at is None:
            known = state.nonces.get(f"{reader.node.address}/1/iteration") not in state.clients
            if not known or reader.left_at is None or reader.left_at + slack_ns >= ended:
                return True
    return False


def _state(world: World) -> DispatcherState:
    role = world.nodes[DISPATCHER].role
    assert isinstance(role, Dispatcher)
    return role.state


def _once_a_life(scenario: Scenario, world: World, job: str) -> list[str]:
    """OFF: each life of each worker gives the dataset once at the most, and a whole one unless it was cut short.

    What a reader that is gone was sent may have been taken by it, and goes to the others all the same.
    """
    disk = world.nodes[DISPATCHER].disk
    assert disk is not None
    lives = Counter(record.address for record in disk.records if isinstance(record, RegisterWorker))
    unharmed = [
        worker
        for worker, plan in zip(world.workers, scenario.workers, strict=True)
        if not plan.joins and world.nodes[worker].alive and world.nodes[worker].incarnation == lives[worker] == 1
    ]
    left = [a for a in world.applications.values() if a.job == job and (a.leaves_early or a.ended_at is None)]
    least, most = 0 if left else len(unharmed), lives.total() + len(left)
    return between(scenario.workload.values(), least, most, world.ledger.of(job))
