"""Seeds: a scenario for each of many, drawn by the swarm or one of a file, played on all cores; and what was covered.

A sweep proves something only about what happened in it. So it counts in how many of its runs each kind of fault began
and each mark came true, and says which never did.
"""

from __future__ import annotations

import multiprocessing
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from tfsvc_sim.faults import label
from tfsvc_sim.faults.menu import FaultKind, what
from tfsvc_sim.judging.claims import Claim
from tfsvc_sim.judging.verdict import MARKS, Verdict
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.nodes.tempo import Tempo
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.files import load
from tfsvc_sim.playing.play import MakeWorld, play
from tfsvc_sim.playing.scenario import Scenario
from tfsvc_sim.playing.swarm import draw
from tfsvc_sim.playing.workloads import KINDS

CHUNK: Final = 50
"""Seeds that a process plays before it reports."""


def heap_world(seed: int, tempo: Tempo) -> World:
    """A world whose time is a bare heap's; its runs are those of SimPy, only faster."""
    return World(seed, tempo, engine=HeapEngine(seed))


ENGINES: Final[dict[str, MakeWorld]] = {"heap": heap_world, "simpy": World}


@dataclass(frozen=True, slots=True)
class Source:
    """Where the scenario of a seed comes from.

    Attributes:
      file: a scenario whose seed alone changes; ``None`` for the swarm, which draws everything.
    """

    file: Path | None = None

    def scenario(self, seed: int) -> tuple[Scenario, Sequence[Claim]]:
        """The scenario of a seed, and what is claimed of it."""
        if self.file is None:
            return draw(seed), ()
        story = _loaded(self.file)
        return replace(story.scenario, seed=seed), story.claims

    def wanted(self) -> tuple[str, ...]:
        """What must have happened in some run."""
        if self.file is None:
            kinds = tuple(dict.fromkeys(label(what(kind, 0)) for kind in FaultKind))
            return (*kinds, *MARKS, *(f"workload {kind}" for kind in KINDS))
        scenario, claims = self.scenario(0)
        kinds = tuple(dict.fromkeys(label(fault.what) for fault in scenario.faults))
        return (*kinds, *(claim.name for claim in claims if claim.rare))


_loaded = lru_cache(load)

SWARM: Final = Source()


@dataclass(slots=True)
class Tally:
    """What came of some seeds.

    Attributes:
      failed: problems by seed.
      seen: in how many runs each kind of fault began, each mark came true, and each workload was read.
    """

    clean: int = 0
    events: int = 0
    taken: int = 0
    failed: dict[int, tuple[str, ...]] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        self.clean += other.clean
        self.events += other.events
        self.taken += other.taken
        self.failed.update(other.failed)
        self.seen.update(other.seen)

    def missing(self, source: Source) -> tuple[str, ...]:
        """What never happened, although it should have."""
        return tuple(name for name in source.wanted() if not self.seen[name])


def sweep(seeds: range, jobs: int = 1, engine: str = "heap", source: Source = SWARM) -> Iterator[Tally]:
    """Plays the scenario of every seed in ``jobs`` processes; gives a tally for each chunk as it ends.

    Args:
      engine: one of ``ENGINES``.
    """
    chunks = [(seeds[i : i + CHUNK], engine, source) for i in range(0, len(seeds), CHUNK)]
    if jobs == 1:
        yield from map(_play_all, chunks)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(_play_all, chunks)


def problems_of(scenario: Scenario, make: MakeWorld = heap_world, claims: Sequence[Claim] = ()) -> tuple[str, ...]:
    """What is wrong with a run, a machine's own check that failed included."""
    found = _attempt(scenario, make, claims)
    return found.problems if isinstance(found, Verdict) else found


def _attempt(scenario: Scenario, make: MakeWorld, claims: Sequence[Claim]) -> Verdict | tuple[str, ...]:
    try:
        return play(scenario, make, claims)
    except Exception as error:
        return (f"{type(error).__name__}: {error}", traceback.format_exc(limit=-3))


def _play_all(chunk: tuple[range, str, Source]) -> Tally:
    seeds, engine, source = chunk
    tally = Tally()
    for seed in seeds:
        scenario, claims = source.scenario(seed)
        tally.seen[f"workload {scenario.workload.kind}"] += 1
        found = _attempt(scenario, ENGINES[engine], claims)
        if isinstance(found, Verdict):
            tally.events += found.events
            tally.taken += found.taken
            tally.seen.update(dict.fromkeys((*found.met, *found.marks), 1))
        problems = found.problems if isinstance(found, Verdict) else found
        if problems:
            tally.failed[seed] = problems
        else:
            tally.clean += 1
    return tally
