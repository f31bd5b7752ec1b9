"""Sweeps: many seeds, each with a random cluster, workload and faults, on all cores."""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from tfsvc_sim.faults import label
from tfsvc_sim.faults.menu import FaultKind, what
from tfsvc_sim.heap import HeapEngine
from tfsvc_sim.play import play
from tfsvc_sim.scenario import Scenario
from tfsvc_sim.swarm import draw
from tfsvc_sim.tempo import Tempo
from tfsvc_sim.verdict import MARKS
from tfsvc_sim.world import World

Name = TypeVar("Name", bound=str)

CHUNK = 50
"""Seeds that a process plays before it reports."""


@dataclass(slots=True)
class Tally:
    """What came of some seeds.

    Attributes:
      failed: problems by seed.
      met: in how many scenarios each kind of fault began while somebody was reading.
      marks: in how many scenarios each of ``MARKS`` was seen.
      workloads: how often each kind of dataset was read.
    """

    clean: int = 0
    events: int = 0
    taken: int = 0
    failed: dict[int, tuple[str, ...]] = field(default_factory=dict)
    met: Counter[str] = field(default_factory=Counter)
    marks: Counter[str] = field(default_factory=Counter)
    workloads: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        self.clean += other.clean
        self.events += other.events
        self.taken += other.taken
        self.failed.update(other.failed)
        self.met.update(other.met)
        self.marks.update(other.marks)
        self.workloads.update(other.workloads)


def sweep(seeds: range, jobs: int = 1, engine: str = "simpy") -> Iterator[Tally]:
    """Plays the scenario of every seed in ``jobs`` processes; gives a tally for each chunk as it ends."""
    chunks = [(seeds[i : i + CHUNK], engine) for i in range(0, len(seeds), CHUNK)]
    if jobs == 1:
        yield from map(_play_all, chunks)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(_play_all, chunks)


def heap_world(seed: int, tempo: Tempo) -> World:
    """A world whose time is a bare heap's."""
    return World(seed, tempo, engine=HeapEngine(seed))


def report(seeds: range, jobs: int, engine: str) -> bool:
    """Sweeps and prints what came of it; whether every seed was clean."""
    began = time.monotonic()
    total = Tally()
    for tally in sweep(seeds, jobs, engine):
        total.add(tally)
        for seed, problems in tally.failed.items():
            _print_failure(seed, problems)
    spent = time.monotonic() - began
    print(f"{total.clean} seeds clean, {len(total.failed)} failed, in {spent:.0f} s: {len(seeds) / spent:.0f} seeds/s")
    print(f"{total.events} events, {total.taken} elements taken")
    _print_coverage([label(what(kind, 0)) for kind in FaultKind], total.met)
    _print_coverage(MARKS, total.marks)
    _print_coverage(sorted(total.workloads), total.workloads)
    return not total.failed


def _play_all(chunk: tuple[range, str]) -> Tally:
    seeds, engine = chunk
    tally = Tally()
    for seed in seeds:
        scenario = draw(seed)
        tally.workloads[scenario.workload.kind] += 1
        problems = _play(scenario, engine, tally)
        if problems:
            tally.failed[seed] = problems
        else:
            tally.clean += 1
    return tally


def _play(scenario: Scenario, engine: str, tally: Tally) -> tuple[str, ...]:
    try:
        verdict = play(scenario, heap_world if engine == "heap" else World)
    except Exception:
        return (traceback.format_exc(limit=-3),)
    tally.events += verdict.events
    tally.taken += verdict.taken
    tally.met.update(dict.fromkeys(verdict.met, 1))
    tally.marks.update(verdict.marks)
    return verdict.problems


def _print_failure(seed: int, problems: tuple[str, ...]) -> None:
    print(f"seed {seed} FAILED")
    for problem in problems:
        print(f"  {problem}")
    print(f"  see it again: python -m scenarios.worker_crash --replay {seed}")


def _print_coverage(names: Iterable[Name], counts: Counter[Name]) -> None:
    print()
    for name in names:
        print(f"  {counts[name]:7} seeds: {name}")
