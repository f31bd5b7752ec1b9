"""A run is a function of its seed: again, in another process, under other hash seeds, on the other engine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.kernel.trace import Entry, Trace, first_divergence
from tfsvc_sim.nodes.tempo import TEMPOS
from tfsvc_sim.nodes.world import World
from tfsvc_sim.outside.proof import PLACES, Elsewhere, divergence, prove
from tfsvc_sim.playing.play import play, stage
from tfsvc_sim.playing.swarm import draw
from tfsvc_sim.playing.workloads import KINDS, Workload

SEEDS = range(12)
ELSEWHERE = [path for path in os.environ.get("TFSVC_PYTHONS", "").split(os.pathsep) if path]
"""Other Pythons that have what the simulator needs; ``make determinism`` names them."""


def digests() -> list[str]:
    return [play(draw(seed)).digest for seed in SEEDS]


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_another_process_with_another_hash_seed_runs_alike(hash_seed: str) -> None:
    place = Elsewhere("another process", python=sys.executable, hash_seed=hash_seed)
    assert prove([draw(seed) for seed in SEEDS], [place]) == []


@pytest.mark.parametrize("python", ELSEWHERE, ids=lambda path: Path(path).parents[1].name)
def test_another_python_runs_alike(python: str) -> None:
    place = Elsewhere(python, "heap", python)
    assert prove([draw(seed) for seed in range(40)], [place]) == []


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


@pytest.mark.parametrize("kind", KINDS)
def test_a_workload_is_shipped_in_the_same_bytes_from_any_folder(kind: str) -> None:
    assert str(Path(__file__).parents[3]).encode() not in Workload(kind, 3).definition().program


def test_a_story_is_the_chain_of_causes() -> None:
    trace = Trace(keep=True)
    first = trace.event(1, "a", "asks", 0)
    trace.event(2, "c", "sleeps", 0)
    second = trace.event(3, "b", "is asked", first)
    third = trace.event(4, "a", "is answered", second)
    assert [entry.what for entry in trace.story(third)] == ["asks", "is asked", "is answered"]


def test_a_run_that_goes_another_way_is_told_with_the_events_before() -> None:
    events = [Entry(i, i, "a", f"event {i}", 0) for i in range(1, 20)]
    other = [*events[:10], Entry(11, 11, "b", "event 11", 0)]
    found = first_divergence(events, other)
    assert found is not None
    told = list(divergence(events, *found, "another place"))
    assert told[0] == "in another place the run goes another way at event 11:"
    assert [line.split("event ")[1] for line in told[1:7]] == [str(i) for i in range(5, 11)]
    assert told[7].split() == ["here", "0.000", "ms", "a", "event", "11"]
    assert told[8].split() == ["there", "0.000", "ms", "b", "event", "11"]


def test_a_scenario_that_is_no_function_of_its_seed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    worlds = []
    start = World.add_worker

    def add_worker(world: World, *arguments: object, **named: object) -> object:
        worlds.append(world)
        world.trace.event(world.now, "worker", f"world {len(worlds)}", 0)
        return start(world, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(World, "add_worker", add_worker)
    (problem,) = prove([draw(0)], PLACES[:1])
    assert problem.startswith("in the same process again the run goes another way at event")


def test_the_first_divergence_of_two_runs_is_found() -> None:
    one = [Entry(1, 5, "a", "x", 0), Entry(2, 6, "a", "y", 1)]
    other = [*one[:1], Entry(2, 6, "a", "z", 1)]
    assert first_divergence(one, one) is None
    assert first_divergence(one, other) == (one[1], other[1])
    assert first_divergence(one, one[:1]) == (one[1], None)
