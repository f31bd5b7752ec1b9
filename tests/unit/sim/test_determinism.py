"""A run is a function of its seed: again, in another process, under other hash seeds, on the other engine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfsvc_sim.heap import HeapEngine
from tfsvc_sim.play import play, stage
from tfsvc_sim.swarm import draw
from tfsvc_sim.tempo import TEMPOS
from tfsvc_sim.trace import Entry, Trace, first_divergence
from tfsvc_sim.world import World

ROOT = Path(__file__).parents[3]
SEEDS = range(12)
SCRIPT = """
from tfsvc_sim.play import play
from tfsvc_sim.swarm import draw
for seed in range(12):
    print(play(draw(seed)).digest)
"""


def digests() -> list[str]:
    return [play(draw(seed)).digest for seed in SEEDS]


@pytest.mark.parametrize("hash_seed", ["0", "1", "4711"])
def test_another_process_with_another_hash_seed_runs_alike(hash_seed: str) -> None:
    paths = os.pathsep.join((str(ROOT), str(ROOT / "sim")))
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == digests()


def test_both_engines_run_alike() -> None:
    assert [
        play(draw(seed), lambda s, tempo: World(s, tempo, engine=HeapEngine(s))).digest for seed in SEEDS
    ] == digests()


def test_a_readable_trace_is_the_same_run() -> None:
    for seed in SEEDS:
        scenario = draw(seed)
        world, _ = stage(scenario, World(seed, TEMPOS[scenario.tempo], keep=True))
        assert world.trace.digest() == play(draw(seed)).digest
        assert world.trace.count == len(world.trace.entries)


def test_other_seeds_run_otherwise() -> None:
    assert len(set(digests())) == len(SEEDS)


def test_a_story_is_the_chain_of_causes() -> None:
    trace = Trace(keep=True)
    first = trace.event(1, "a", "asks", 0)
    trace.event(2, "c", "sleeps", 0)
    second = trace.event(3, "b", "is asked", first)
    third = trace.event(4, "a", "is answered", second)
    assert [entry.what for entry in trace.story(third)] == ["asks", "is asked", "is answered"]


def test_the_first_divergence_of_two_runs_is_found() -> None:
    one = [Entry(1, 5, "a", "x", 0), Entry(2, 6, "a", "y", 1)]
    other = [*one[:1], Entry(2, 6, "a", "z", 1)]
    assert first_divergence(one, one) is None
    assert first_divergence(one, other) == (one[1], other[1])
    assert first_divergence(one, one[:1]) == (one[1], None)
