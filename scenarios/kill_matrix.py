"""Which safeguard is noticed when it is missing? All of them, or the simulator proves nothing.

    python -m scenarios.kill_matrix                 every planted bug, and the seed that caught it
    python -m scenarios.kill_matrix --seeds 1000    looking longer for each
    python -m scenarios.kill_matrix --shrink lanes  the smallest scenario for each whose name says so, as a script

Expected: every bug is caught; the exit code is 1 if one is not.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from scenarios.planted_bugs import BUGS, Bug
from scenarios.stories import shared_out, shares, swarm
from tfsvc_sim import Scenario
from tfsvc_sim.outside.commands import shrink_for
from tfsvc_sim.playing.script import to_script
from tfsvc_sim.playing.seeds import problems_of
from tfsvc_sim.playing.shrink import FEW, Shrunk
from tfsvc_sim.playing.swarm import draw

SEEDS = 600
SECONDS = 60.0
"""How long a scenario may take to shrink."""


@dataclass(frozen=True, slots=True)
class Catch:
    """The seed that noticed a bug, and what it noticed."""

    seed: int
    problem: str


def hunt(bug: Bug, seeds: int = SEEDS) -> Catch | None:
    """The first seed in which an oracle disagrees, or a machine's own check fails."""
    with contextmanager(bug.plant)():
        for seed in range(seeds):
            try:
                problems = bug.story(seed, bug.make)
            except (AssertionError, KeyError) as failure:
                problems = (f"{type(failure).__name__}: {failure}",)
            if problems:
                return Catch(seed, problems[0])
    return None


def scenario_of(bug: Bug, seed: int) -> Scenario | None:
    """The scenario that a bug's story makes of a seed, if it makes one."""
    if bug.story is swarm:
        return draw(seed)
    return shared_out(seed) if bug.story is shares else None


def small(bug: Bug, seed: int, seconds: float = SECONDS) -> Shrunk | None:
    """The smallest scenario in which a bug is noticed; ``None`` if its story is no scenario.

    Not every failure shrinks to one that a person can follow, so the next seeds that fail are tried as well.
    """
    ends = time.monotonic() + seconds
    best: Shrunk | None = None
    with contextmanager(bug.plant)():
        for number in range(seed, seed + SEEDS):
            scenario = scenario_of(bug, number)
            if scenario is None or (best is not None and (_is_small(best.scenario) or time.monotonic() > ends)):
                break
            problems = problems_of(scenario, bug.make)
            if problems:
                found = shrink_for(scenario, problems, ends - time.monotonic(), play_it=partial(_problems, bug))
                if best is None or found.scenario.workload.elements < best.scenario.workload.elements:
                    best = found
    return best


def _problems(bug: Bug, scenario: Scenario) -> Sequence[str]:
    return problems_of(scenario, bug.make)


def _is_small(scenario: Scenario) -> bool:
    return len(scenario.faults) <= 3 and scenario.workload.elements <= FEW


def _show_small(bug: Bug, seed: int) -> None:
    shrunk = small(bug, seed)
    if shrunk is None:
        return
    scenario = shrunk.scenario
    with contextmanager(bug.plant)():
        story = problems_of(scenario, bug.make)
    print(f"   {len(scenario.faults)} faults, {scenario.workload.elements} elements, after {shrunk.runs} runs\n")
    print(to_script(scenario, f"Without this: {bug.safeguard}.", story))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scenarios.kill_matrix", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many seeds each bug may take")
    parser.add_argument("--shrink", metavar="WORDS", help="only those that say so, and shrink them; '' for all")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    missed = 0
    bugs = [bug for bug in BUGS if options.shrink is None or options.shrink in bug.safeguard]
    for number, bug in enumerate(bugs, 1):
        caught = hunt(bug, options.seeds)
        missed += caught is None
        what = "NOT CAUGHT" if caught is None else f"seed {caught.seed}: {caught.problem}"
        print(f"{number:2} {bug.safeguard:60} {what.splitlines()[0][:100]}", flush=True)
        if caught is not None and options.shrink is not None:
            _show_small(bug, caught.seed)
    print(f"{len(bugs) - missed} of {len(bugs)} caught in {time.monotonic() - began:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
