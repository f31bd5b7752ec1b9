"""Showing: one run of a scenario, told to people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tfsvc.protocol.ids import SECOND
from tfsvc_sim import page
from tfsvc_sim.judging.claims import Claim
from tfsvc_sim.judging.verdict import Verdict
from tfsvc_sim.nodes.tempo import TEMPOS
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.play import run
from tfsvc_sim.playing.records import to_plain
from tfsvc_sim.playing.scenario import Outcome, Scenario
from tfsvc_sim.playing.timeline import timeline

GOOD: Final = {
    Outcome.DELIVERED: "elements, as they should be",
    Outcome.STATE_LOST: "elements, none of them twice, and then readers were told that the state was lost",
    Outcome.NO_SERVICE: "elements, none of them twice, and then no service",
}


def show(
    scenario: Scenario,
    claims: Sequence[Claim] = (),
    trace: bool = False,
    page_path: Path | None = None,
    title: str = "",
) -> int:
    """Plays a scenario and prints what happened; 0 if all was as it should be, 1 if not.

    Args:
      scenario: what is played.
      claims: what must hold beside the oracles.
      trace: whether every event is told, and not only those that people want to hear of.
      page_path: where to write the run's page.
      title: of the page.
    """
    world = World(scenario.seed, TEMPOS[scenario.tempo], keep=True)
    looking = page.Observation(world) if page_path is not None else None
    try:
        verdict = run(scenario, world, claims)
    finally:
        for line in world.trace.entries if trace else timeline(world):
            print(line)
    print()
    for line in summary(scenario, verdict, world):
        print(line)
    if looking is not None and page_path is not None:
        facts = {"seed": str(scenario.seed), "scenario": scenario.to_json()}
        recording = looking.recording(title or f"seed {scenario.seed}", facts, verdict.problems)
        print(f"page: {page.write(recording, page_path)}")
    return 1 if verdict.problems else 0


def options(scenario: Scenario) -> Iterator[str]:
    """Everything that a run depends on, a line each."""
    for name, value in to_plain(scenario, whole=True).items():
        if name not in ("workers", "readers", "faults"):
            yield f"  {name:<17} {json.dumps(value)}"
            continue
        for i, item in enumerate(value):
            yield f"  {f'{name}[{i}]':<17} {json.dumps(item)}"


def summary(scenario: Scenario, verdict: Verdict, world: World) -> Iterator[str]:
    """What a run came to."""
    yield from verdict.problems or (f"clean: {verdict.taken} {GOOD[scenario.outcome]}",)
    begun = [fault for _, fault in world.struck_at]
    for i, fault in enumerate(scenario.faults):
        if fault not in begun:
            yield f"never met, and so not shown: faults[{i}], {json.dumps(to_plain(fault))}"
    yield f"trace {verdict.digest[:16]}: {verdict.events} events in {world.now / SECOND:.2f} s of the world"
