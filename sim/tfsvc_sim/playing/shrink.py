"""Shrinking: the smallest scenario that still fails, found by trying simpler ones.

Each pass proposes scenarios that are simpler in one respect, boldest first: fewer faults, fewer nodes, less to read,
plainer habits, milder and earlier faults, a schedule with less luck. What still fails is kept, and the passes begin
again, until none of them finds anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, Final

from tfsvc.protocol.messages import ShardingPolicy
from tfsvc_sim.faults import Fault
from tfsvc_sim.faults.bounds import beyond
from tfsvc_sim.playing.records import default_of
from tfsvc_sim.playing.scenario import Outcome, ReaderPlan, Scenario, WorkerPlan
from tfsvc_sim.playing.workloads import KINDS, Workload

Fails = Callable[[Scenario], bool]
Candidates = Iterator[Scenario]

CALM_STEPS: Final = (0, 16, 64, 256, 1024, 4096)
"""How many choices may be left to luck, in the first round of lowering the schedule."""
ROUND_MS: Final = 50
FEW: Final = 10
"""Elements that a person can look at one by one."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What came of shrinking.

    Attributes:
      runs: how many scenarios were played.
      finished: whether nothing simpler fails; if not, time ran out.
    """

    scenario: Scenario
    runs: int
    finished: bool


def shrink(scenario: Scenario, fails: Fails, may_go_on: Callable[[], bool] = lambda: True) -> Shrunk:
    """The simplest scenario that was found to fail still.

    Args:
      fails: plays a scenario; whether it fails.
      may_go_on: whether there is time for another run.
    """
    tried: dict[str, None] = {scenario.to_json(): None}
    runs = 0

    def try_pass(simplify: Callable[[Scenario], Candidates]) -> bool:
        """Takes over what a pass finds, as long as it finds something; whether it did."""
        nonlocal scenario, runs
        progress = False
        again = True
        while again:
            again = False
            for candidate in simplify(scenario):
                key = candidate.to_json()
                if key in tried or not _makes_sense(candidate):
                    continue
                if not may_go_on():
                    return False
                tried[key] = None
                runs += 1
                if fails(candidate):
                    scenario, progress, again = candidate, True, True
                    break
        return progress

    while sum(map(try_pass, PASSES)):
        if not may_go_on():
            return Shrunk(scenario, runs, False)
    return Shrunk(scenario, runs, may_go_on())


def _makes_sense(scenario: Scenario) -> bool:
    """Whether its outcome can still be asked for."""
    if scenario.policy not in (*KINDS[scenario.workload.kind].policies, ShardingPolicy.OFF):
        return False
    return scenario.outcome is not Outcome.DELIVERED or beyond(scenario.faults, len(scenario.workers)) is None


def fewer_faults(scenario: Scenario) -> Candidates:
    """Without half of the faults, a quarter of them, and so on to each single one."""
    for rest in _without_parts(scenario.faults):
        yield replace(scenario, faults=rest)


def fewer_nodes(scenario: Scenario) -> Candidates:
    """One worker or reader; without any one of them."""
    if len(scenario.readers) > 1:
        yield replace(scenario, readers=scenario.readers[:1])
    if len(scenario.workers) > 1:
        yield replace(scenario, workers=scenario.workers[:1])
    for i in range(len(scenario.readers) if len(scenario.readers) > 1 else 0):
        yield replace(scenario, readers=scenario.readers[:i] + scenario.readers[i + 1 :])
    for i in range(len(scenario.workers) if len(scenario.workers) > 1 else 0):
        yield replace(scenario, workers=scenario.workers[:i] + scenario.workers[i + 1 :])


def less_work(scenario: Scenario) -> Candidates:
    """A plainer dataset, unless it would have many more elements, and a smaller one."""
    kind, size = scenario.workload.kind, scenario.workload.size
    most = max(FEW, scenario.workload.elements)
    names = list(KINDS)
    for plainer in names[: names.index(kind)]:
        if Workload(plainer, size).elements <= most:
            yield replace(scenario, workload=Workload(plainer, size))
    for smaller in _lower(size, 0):
        yield replace(scenario, workload=Workload(kind, smaller))


def few_elements(scenario: Scenario) -> Candidates:
    """Where there are many elements, fewer of them at the price of something else."""
    if scenario.workload.elements <= FEW:
        return
    for size in (FEW // 2, FEW, scenario.workload.size // 2, scenario.workload.size):
        for kind in (scenario.workload.kind, "filter", "batch"):
            load = Workload(kind, size)
            if load.elements < scenario.workload.elements:
                yield from _otherwise(replace(scenario, workload=load))


def _otherwise(scenario: Scenario) -> Candidates:
    """The same work done more slowly, in smaller pieces, or with everything earlier."""
    yield scenario
    for tempo in ("small buffers", "impatient"):
        yield replace(scenario, tempo=tempo)
    for every in (1, 4):
        yield replace(scenario, checkpoint_every=every)
    for element_ms in (1, 20):
        yield replace(scenario, workers=tuple(replace(w, element_ms=element_ms) for w in scenario.workers))
    for think_ms in (0, 20):
        yield replace(scenario, readers=tuple(replace(r, think_ms=think_ms) for r in scenario.readers))
    for divisor in (2, 4):
        yield replace(scenario, faults=tuple(replace(f, at_ms=f.at_ms // divisor) for f in scenario.faults))


def plainer_settings(scenario: Scenario) -> Candidates:
    """Whatever has a usual value gets it."""
    for name in ("tempo", "shared", "lanes", "policy", "checkpoint_every"):
        field = next(field for field in fields(Scenario) if field.name == name)
        yield replace(scenario, **{name: default_of(field)})


def plainer_plans(scenario: Scenario) -> Candidates:
    """Nodes that are there from the beginning, with usual habits."""
    usual_workers = (WorkerPlan(),) * len(scenario.workers)
    yield replace(scenario, workers=usual_workers)
    yield replace(scenario, readers=(ReaderPlan(),) * len(scenario.readers))
    for i, worker in enumerate(scenario.workers):
        for plainer in _plainer(worker):
            yield replace(scenario, workers=_with(scenario.workers, i, plainer))
    for i, reader in enumerate(scenario.readers):
        for plainer in _plainer(reader):
            yield replace(scenario, readers=_with(scenario.readers, i, plainer))


def milder_faults(scenario: Scenario) -> Candidates:
    """Faults that begin earlier, last shorter, and have usual settings."""
    for i, fault in enumerate(scenario.faults):
        for milder in _milder(fault):
            yield replace(scenario, faults=_with(scenario.faults, i, milder))


def less_luck(scenario: Scenario) -> Candidates:
    """A schedule that follows luck for a shorter time, or not at all."""
    if scenario.calm_after is None:
        for choices in CALM_STEPS:
            yield replace(scenario, calm_after=choices)
    else:
        for choices in _lower(scenario.calm_after, 0):
            yield replace(scenario, calm_after=choices)


PASSES: Final = (
    fewer_faults,
    fewer_nodes,
    less_work,
    few_elements,
    plainer_settings,
    plainer_plans,
    milder_faults,
    less_luck,
)


def _without_parts(faults: tuple[Fault, ...]) -> Iterator[tuple[Fault, ...]]:
    size = len(faults)
    while size:
        for at in range(0, len(faults), size):
            yield faults[:at] + faults[at + size :]
        size //= 2


def _with(items: tuple[Any, ...], i: int, item: Any) -> tuple[Any, ...]:
    return (*items[:i], item, *items[i + 1 :])


def _plainer(record: Any) -> Iterator[Any]:
    """A record in which one field has its default value."""
    for field in fields(record):
        default = default_of(field)
        if getattr(record, field.name) != default:
            yield replace(record, **{field.name: default})


def _milder(fault: Fault) -> Iterator[Fault]:
    if fault.upon is not None:
        yield replace(fault, upon=None)
        for nth in _lower(fault.upon.nth, 1):
            yield replace(fault, upon=replace(fault.upon, nth=nth))
    for at_ms in _lower(fault.at_ms, 0):
        yield replace(fault, at_ms=at_ms)
    for for_ms in _lower(fault.for_ms, 1) if fault.for_ms is not None else (ROUND_MS,):
        yield replace(fault, for_ms=for_ms)
    what: Any = fault.what
    for field in fields(what):
        value, default = getattr(what, field.name), default_of(field)
        if isinstance(value, str) and not isinstance(value, Enum):
            lower = value.rstrip("0123456789") + "0"
            if value != lower and value[-1:].isdigit():
                yield replace(fault, what=replace(what, **{field.name: lower}))
        elif value != default and type(value) is type(default):
            yield replace(fault, what=replace(what, **{field.name: default}))


def _lower(number: int, least: int) -> Sequence[int]:
    """Smaller numbers, the smallest first; round ones where the number is large."""
    steps = [least]
    gap = (number - least) // 2
    while gap:
        steps.append(number - gap)
        gap //= 2
    rounded = [step // ROUND_MS * ROUND_MS for step in steps if step > 2 * ROUND_MS]
    return sorted({step for step in (*rounded, *steps) if least <= step < number})


def signature(problem: str) -> str:
    """What kind of problem it is: the words, without numbers and without what comes behind a colon.

    Shrinking towards another kind of problem would explain something else.
    """
    words = re.sub(r"(reader|worker)\d+(, (reader|worker)\d+)*", r"\1", problem.splitlines()[0].split(":")[0])
    return re.sub(r"\d+", "#", words)


def still_fails(problems: Sequence[str], play: Callable[[Scenario], Sequence[str]]) -> Fails:
    """A function for ``shrink``: whether a run has a problem of the same kind as one of ``problems``."""
    wanted = dict.fromkeys(map(signature, problems))
    return lambda scenario: any(signature(problem) in wanted for problem in play(scenario))
