"""Which safeguard is noticed when it is missing? All of them, or the simulator proves nothing.

    python -m scenarios.kill_matrix                 every planted bug, and the seed that caught it
    python -m scenarios.kill_matrix --seeds 1000    looking longer for each

Expected: every bug is caught; the exit code is 1 if one is not.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from scenarios.planted_bugs import BUGS, Bug

SEEDS = 600


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


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scenarios.kill_matrix", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many seeds each bug may take")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    missed = 0
    for number, bug in enumerate(BUGS, 1):
        caught = hunt(bug, options.seeds)
        missed += caught is None
        what = "NOT CAUGHT" if caught is None else f"seed {caught.seed}: {caught.problem}"
        print(f"{number:2} {bug.safeguard:60} {what.splitlines()[0][:100]}", flush=True)
    print(f"{len(BUGS) - missed} of {len(BUGS)} caught in {time.monotonic() - began:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
