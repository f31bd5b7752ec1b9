"""Proof that a run is a function of its scenario: played again, elsewhere, it has the same trace.

Elsewhere is the other engine, and another process with another hash seed, of another Python where one is named.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import tfsvc
import tfsvc_sim
from tfsvc_sim.kernel.trace import Entry, first_divergence
from tfsvc_sim.nodes.tempo import TEMPOS
from tfsvc_sim.outside.auditor import audited
from tfsvc_sim.playing.play import stage
from tfsvc_sim.playing.scenario import Scenario
from tfsvc_sim.playing.seeds import ENGINES

HASH_SEED: Final = "4711"
SHOWN: Final = 6
"""How many events before the first difference are told."""


SOURCES: Final = tuple(str(Path(package.__path__[0]).parent) for package in (tfsvc, tfsvc_sim))
"""Where this code is: another Python has libraries of its own."""


class Elsewhere(NamedTuple):
    """Another place to play a scenario in: an engine, and a Python and hash seed if it is another process."""

    name: str
    engine: str = "simpy"
    python: str | None = None
    hash_seed: str = HASH_SEED


PLACES: Final = (
    Elsewhere("the same process again", "heap"),
    Elsewhere("the other engine", "simpy"),
    Elsewhere("another process with another hash seed", "heap", sys.executable),
)


def traced(scenario: Scenario, engine: str = "heap") -> list[Entry]:
    """All events of a run."""
    world = ENGINES[engine](scenario.seed, TEMPOS[scenario.tempo])
    world.trace.keep = True
    stage(scenario, world)
    return world.trace.entries


def traced_elsewhere(scenarios: Sequence[Scenario], place: Elsewhere) -> list[list[Entry]]:
    """All events of each run there.

    Raises:
      subprocess.CalledProcessError: if the other process fails.
    """
    if place.python is None:
        return [traced(scenario, place.engine) for scenario in scenarios]
    environment = {**os.environ, "PYTHONHASHSEED": place.hash_seed, "PYTHONPATH": os.pathsep.join(SOURCES)}
    command = [place.python, "-m", "tfsvc_sim.outside.proof", place.engine]
    lines = "".join(f"{scenario.to_json()}\n" for scenario in scenarios)
    done = subprocess.run(command, input=lines, env=environment, capture_output=True, text=True, check=True)
    return [[Entry(*entry) for entry in json.loads(line)] for line in done.stdout.splitlines()]


def prove(scenarios: Sequence[Scenario], places: Sequence[Elsewhere] = PLACES) -> list[str]:
    """What differs between runs and the same runs in other places, in words; empty if nothing does.

    Raises:
      AmbientError: if the run touches an ambient clock or luck, or starts a thread.
    """
    for scenario in scenarios:
        scenario.workload.values()  # what is expected may be read from a dataset as users read it, on a clock
    with audited():
        here = [traced(scenario) for scenario in scenarios]
    problems = []
    for place in places:
        for one, other in zip(here, traced_elsewhere(scenarios, place), strict=True):
            found = first_divergence(one, other)
            if found is not None:
                problems.append("\n".join(divergence(one, *found, place.name)))
    return problems


def divergence(entries: Sequence[Entry], here: Entry | None, there: Entry | None, place: str) -> Iterable[str]:
    """The first difference between two runs, with the events that led to it."""
    first = here or there
    assert first is not None
    yield f"in {place} the run goes another way at event {first.id}:"
    for entry in entries[max(0, first.id - 1 - SHOWN) : first.id - 1]:
        yield f"  both   {entry}"
    yield f"  here   {here or 'nothing more'}"
    yield f"  there  {there or 'nothing more'}"


def main() -> None:
    """Plays the scenarios on standard input, one a line, and prints the events of each."""
    for line in sys.stdin:
        print(json.dumps(traced(Scenario.from_json(line), sys.argv[1])))


if __name__ == "__main__":
    main()
