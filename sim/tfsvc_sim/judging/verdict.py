"""Verdicts: what must be true when a scenario has been played, and what it has shown."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from tfsvc.protocol.dispatcher.machine import Dispatcher
from tfsvc.protocol.dispatcher.state import DispatcherState
from tfsvc.protocol.messages import ShardingPolicy
from tfsvc.protocol.updates import (
    AdvanceLane,
    CollectIteration,
    CreateIteration,
    CreateJob,
    DealLane,
    FinishIteration,
    GiveUpShard,
    LoseWorker,
    MoveLane,
    RegisterWorker,
    SaveCheckpoint,
    Update,
)
from tfsvc_sim.faults import label
from tfsvc_sim.judging.oracles import between, each_once, in_order, lost, same_sequence
from tfsvc_sim.judging.sequence import sequence
from tfsvc_sim.kernel.disk import Disk
from tfsvc_sim.nodes.application import Application
from tfsvc_sim.nodes.tempo import DISPATCHER
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.scenario import Outcome, Scenario

U = TypeVar("U", bound=Update)


class Records:
    """The dispatcher's records, sorted once by their kind: each oracle asks for a few."""

    def __init__(self, world: World) -> None:
        self.all: Sequence[Update] = _disk(world).records
        self._by_kind: dict[type, list[Any]] = defaultdict(list)
        for record in self.all:
            self._by_kind[type(record)].append(record)

    def of(self, kind: type[U]) -> list[U]:
        """Those of a kind, oldest first."""
        return self._by_kind.get(kind, [])


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a run went.

    Attributes:
      problems: what was wrong, in words; none when all is well.
      digest: of the trace.
      events: how many there were.
      taken: how many elements the applications took.
      met: the faults that began while somebody was reading.
      marks: what happened at least once, of the things that a sweep must have seen.
    """

    problems: tuple[str, ...]
    digest: str
    events: int
    taken: int
    met: tuple[str, ...]
    marks: tuple[str, ...]


def judge(scenario: Scenario, world: World, in_time: bool) -> Verdict:
    """Asks every oracle that the scenario's outcome lets one ask."""
    records = Records(world)
    if scenario.outcome is Outcome.DELIVERED:
        problems = _delivered(scenario, world, records, in_time)
    else:
        problems = _undelivered(scenario, world, in_time)
    jobs = dict.fromkeys(application.job for application in world.applications.values())
    return Verdict(
        tuple(problems),
        world.trace.digest(),
        world.trace.count,
        len(world.ledger.takings),
        tuple(dict.fromkeys(label(fault.what) for _, fault in world.struck_at)),
        _marks(world, records, jobs, scenario.policy.static) if _dispatcher_lives(world) else (),
    )


def _dispatcher_lives(world: World) -> bool:
    return world.nodes[DISPATCHER].alive


def _undelivered(scenario: Scenario, world: World, in_time: bool) -> list[str]:
    """Where not everything can be delivered: nothing comes twice, and readers are told what they can be."""
    load = scenario.workload
    problems = in_order(world.ledger.takings, ascending=False)
    for job in dict.fromkeys(application.job for application in world.applications.values()):
        takings = [t for t in world.ledger.of(job) if t.reader not in world.killed]
        problems += each_once(load.values(), load.errors, takings, complete=False)
    told = [a.error for a in world.applications.values() if a.error is not None]
    match scenario.outcome:
        case Outcome.STATE_LOST:
            if not in_time:
                problems.append("a reader still waits for a dispatcher that knows nothing of it")
            if not told:
                problems.append("nobody was told that the dispatcher has lost its state")
            problems += [f"a reader was told something else: {e.message}" for e in told if "was lost" not in e.message]
        case _:
            if in_time and not told:
                problems.append("every reader had its end, although there was no service")
    return problems


def _delivered(scenario: Scenario, world: World, records: Records, in_time: bool) -> list[str]:
    problems = []
    if not in_time:
        waiting = [name for name, a in world.applications.items() if not a.done and name not in world.killed]
        problems.append(f"{', '.join(waiting)} still waited long after the last fault was over")
    for name, application in world.applications.items():
        if application.error is not None:
            problems.append(f"{name} was given an error: {application.error.message}")
    # What a reader of an OFF job was sent and never fetched goes to the others, out of order.
    handed_on = scenario.policy == ShardingPolicy.OFF and scenario.shared and len(scenario.readers) > 1
    problems += in_order(world.ledger.takings, scenario.workload.ascending and not handed_on)
    _disk(world).check()
    jobs = dict.fromkeys(application.job for application in world.applications.values())
    for job in jobs:
        if scenario.lanes:
            problems += _in_fixed_order(scenario, world, job)
        elif scenario.policy.has_lanes:
            problems += _exactly_once(scenario, world, records, job)
        else:
            problems += _once_a_life(scenario, world, records, job)
    return problems


MARKS: Final = (
    "a job was read to its end",
    "an ordered job was read to its end",
    "an ordered lane moved behind a checkpoint",
    "a lane moved",
    "a lane moved behind a checkpoint",
    "a reader passed over what it had taken",
    "a worker was lost",
    "an iteration was read by two lives of the dispatcher",
    "a life of the dispatcher was folded from a snapshot",
    "a static shard moved to another life of its worker",
    "a static shard was given up",
    "a reader left unheard",
)
"""What a sweep must have seen, or it proves less than it seems to."""


def _marks(world: World, records: Records, jobs: Iterable[str], static: bool) -> tuple[str, ...]:
    ordered = bool(records.of(DealLane))
    saved = {record.lane_id for record in records.of(SaveCheckpoint)}
    moved = {record.lane_id for record in records.of(MoveLane)}
    seen = (
        not ordered and any(_finished(world, records, job) for job in jobs),
        ordered and any(_finished(world, records, job) for job in jobs),
        bool(moved) and _moved_behind_a_checkpoint(records.all),
        bool(moved),
        bool(moved & saved),
        any(application.passed_over for application in world.applications.values()),
        bool(records.of(LoseWorker)),
        world.nodes[DISPATCHER].incarnation > 1 and bool(moved | saved),
        _disk(world).restored > 0,
        static and bool(moved),
        bool(records.of(GiveUpShard)),
        any(application.unheard for application in world.applications.values()),
    )
    return tuple(mark for mark, met in zip(MARKS, seen, strict=True) if met)


def _moved_behind_a_checkpoint(records: Sequence[Update]) -> bool:
    """Whether an ordered lane went to another worker when it had a checkpoint to go on from."""
    behind = set()
    for record in records:
        if isinstance(record, AdvanceLane) and record.checkpoint is not None:
            behind.add(record.lane_id)
        elif isinstance(record, MoveLane) and record.lane_id in behind:
            return True
    return False


def _exactly_once(scenario: Scenario, world: World, records: Records, job: str) -> list[str]:
    """Whatever the dispatcher holds for taken was taken once, and in the end that is everything.

    Where sharding is static, the shards of workers that did not come back are given up, and no others. What a
    reader leaves behind that closes early may find nobody to read it, if the others have gone. What
    a reader took that died, or left unheard and was told so, may be taken again by others.
    """
    values, errors = expected(scenario, ())
    readers = [a for a in world.applications.values() if a.job == job]
    finished = _finished(world, records, job)
    takings = tuple(world.ledger.of(job))
    gone = {name for name, a in world.applications.items() if name in world.killed or a.unheard}
    living = [taking for taking in takings if taking.reader not in gone]
    problems = each_once(values, errors, living, complete=False)
    if finished:
        problems += lost(*expected(scenario, _given_up(world, records, job)), takings)
    if not finished and not _excused(world, readers):
        problems.append(f"job {job} was never finished, although somebody read it to the end")
    return problems


def expected(scenario: Scenario, given_up: Sequence[int]) -> tuple[Sequence[int], int]:
    """The values and the number of errors that a whole pass holds without some shards."""
    load, workers = scenario.workload, len(scenario.workers)
    if not scenario.policy.static:
        return load.values(), load.errors
    if load.parts(scenario.policy) < workers:
        # Each worker that has a part says that there is none for every worker.
        return (), 0 if given_up else load.parts(scenario.policy)
    if not given_up:
        return load.values(), load.errors
    shards = load.shards(scenario.policy, workers) or ()
    return [value for i, shard in enumerate(shards) if i not in given_up for value in shard], 0


def _in_fixed_order(scenario: Scenario, world: World, job: str) -> list[str]:
    """An ordered job: each consumer gets its sequence, whole if it read to the end, and else the beginning of it."""
    readers = [a for a in world.applications.values() if a.job == job]
    expected = sequence(scenario.workload.definition(), scenario.order, len(readers))
    problems = []
    for reader, want in zip(readers, expected, strict=True):
        assert reader.node is not None
        name = reader.node.address
        got = [taking.values for taking in world.ledger.of(job) if taking.reader == name]
        problems += same_sequence(name, want, got, complete=reader.ended_at is not None)
    return problems


def _given_up(world: World, records: Records, job: str) -> list[int]:
    """The shards for which no worker came back in time."""
    ids = _iterations(world, records, job)
    return [r.shard for r in records.of(GiveUpShard) if r.iteration_id in ids]


def _iterations(world: World, records: Records, job: str) -> list[int]:
    """The ids of all iterations of the job that an application calls so."""
    nonces = {f"{name}/1/job" for name, a in world.applications.items() if a.job == job}
    jobs = {r.job_id for r in records.of(CreateJob) if r.nonce in nonces}
    return [r.iteration_id for r in records.of(CreateIteration) if r.job_id in jobs]


def _finished(world: World, records: Records, job: str) -> bool:
    """Whether the dispatcher counts every element of the job as taken."""
    state, iterations = _state(world), _iterations(world, records, job)
    over = {r.iteration_id for r in records.of(FinishIteration)}
    for i in state.iterations.values():
        if i.finished or (i.exhausted and not i.lanes):
            over.add(i.id)
    # What the dispatcher has dropped as read may not have reached its disk when it died.
    collected = {r.iteration_id for r in records.of(CollectIteration)}
    over |= {i for i in iterations if i not in state.iterations and i not in collected}
    return bool(iterations) and all(iteration_id in over for iteration_id in iterations)


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


def _disk(world: World) -> Disk:
    disk = world.nodes[DISPATCHER].disk
    assert disk is not None
    return disk


def _state(world: World) -> DispatcherState:
    role = world.nodes[DISPATCHER].role
    assert isinstance(role, Dispatcher)
    return role.state


def _once_a_life(scenario: Scenario, world: World, records: Records, job: str) -> list[str]:
    """OFF: each life of each worker gives the dataset once at the most, and a whole one unless it was cut short.

    What a reader that is gone was sent may have been taken by it, and goes to the others all the same.
    """
    lives = Counter(record.address for record in records.of(RegisterWorker))
    lost_once = {record.address for record in records.of(LoseWorker)}
    unharmed = [
        worker
        for worker, plan in zip(world.workers, scenario.workers, strict=True)
        if not plan.joins_ms
        and worker not in lost_once
        and world.nodes[worker].alive
        and world.nodes[worker].incarnation == lives[worker] == 1
    ]
    left = [a for a in world.applications.values() if a.job == job and (a.leaves_early or a.died or a.ended_at is None)]
    least, most = 0 if left else len(unharmed), lives.total() + len(left)
    return between(scenario.workload.values(), least, most, world.ledger.of(job))
