"""Shrinking: what does not matter goes, what matters stays, and the rest of the time is spent well."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

from tfsvc.protocol.messages import ShardingPolicy
from tfsvc_sim.faults import Crash, Fault, Lose, Message, Pause
from tfsvc_sim.faults.menu import FaultKind, usual
from tfsvc_sim.playing.files import load, to_file
from tfsvc_sim.playing.scenario import ReaderPlan, Scenario, WorkerPlan
from tfsvc_sim.playing.script import to_script
from tfsvc_sim.playing.seeds import problems_of
from tfsvc_sim.playing.shrink import shrink, signature, still_fails
from tfsvc_sim.playing.swarm import draw
from tfsvc_sim.playing.workloads import Workload

LARGE = Scenario(
    seed=5,
    workload=Workload("shuffle_batch", 48),
    policy=ShardingPolicy.DYNAMIC,
    workers=(WorkerPlan(joins_ms=150, element_ms=9), WorkerPlan(), WorkerPlan(element_ms=2)),
    readers=(ReaderPlan(think_ms=7), ReaderPlan(leave_after=3, ahead=True)),
    lanes=8,
    tempo="impatient",
    faults=(
        *(usual(slot, kind, slot, 12) for slot, kind in enumerate((FaultKind.LOSS, FaultKind.CRASH))),
        Fault(Pause("worker2"), at_ms=333, for_ms=444, upon=Message("GetFrames", "reader1", 7)),
        Fault(Lose(0.4), at_ms=700, for_ms=120),
    ),
)


def has(kind: type, scenario: Scenario) -> bool:
    return any(isinstance(fault.what, kind) for fault in scenario.faults)


def test_only_what_is_needed_stays():
    found = shrink(LARGE, lambda s: has(Pause, s) and s.workload.elements >= 4)
    assert found.finished
    (fault,) = found.scenario.faults
    assert fault == Fault(Pause("worker0"), at_ms=0, for_ms=1)
    small = replace(found.scenario, faults=())
    assert small == Scenario(seed=5, workload=Workload("range", 4), calm_after=0)


def test_two_faults_that_need_each_other_both_stay():
    found = shrink(LARGE, lambda s: has(Pause, s) and has(Crash, s)).scenario
    assert [type(fault.what).__name__ for fault in found.faults] == ["Crash", "Pause"]


def test_a_number_goes_to_where_it_begins_to_matter():
    def fails(scenario: Scenario) -> bool:
        return any(fault.at_ms >= 130 for fault in scenario.faults) and (
            scenario.calm_after is None or scenario.calm_after >= 37
        )

    found = shrink(LARGE, fails).scenario
    assert [fault.at_ms for fault in found.faults] == [130]
    assert found.calm_after == 37


def test_what_no_cluster_survives_is_not_tried():
    def fails(scenario: Scenario) -> bool:
        assert all(fault.for_ms is not None for fault in scenario.faults) or len(scenario.workers) > 1
        return has(Crash, scenario)

    scenario = replace(LARGE, faults=(Fault(Crash("worker0"), for_ms=None),))
    found = shrink(scenario, fails).scenario
    assert len(found.workers) == 2 or found.faults[0].for_ms is not None


def test_it_ends_when_there_is_no_time_left():
    runs = []

    def fails(scenario: Scenario) -> bool:
        runs.append(scenario)
        return True

    found = shrink(LARGE, fails, lambda: len(runs) < 3)
    assert (found.runs, found.finished) == (3, False)


def test_another_kind_of_problem_is_not_followed():
    assert signature("value 13 was taken 2 times, and the dataset holds 1: at 3 ms") == signature(
        "value 4 was taken 3 times, and the dataset holds 1: at 77 ms"
    )
    assert signature("reader0, reader1 still waited") == signature("reader2 still waited")
    fails = still_fails(["3 values were lost: 1, 2, 3"], lambda s: ["value 1 was taken 2 times"] if s.faults else [])
    assert not fails(LARGE)


def test_a_script_and_a_file_are_the_scenario_again(tmp_path):
    for number, scenario in enumerate([LARGE, Scenario(), *map(draw, range(30))]):
        path = tmp_path / f"found{number}.py"
        path.write_text(to_script(scenario, 'It says """no""" \\ here', ["value 3 was lost"]))
        assert load(path).scenario == scenario
        path = tmp_path / f"found{number}.json"
        path.write_text(to_file(scenario, "title", ["value 3 was lost"], "d1ge57"))
        again = load(path)
        assert (again.scenario, again.problems, again.digest) == (scenario, ("value 3 was lost",), "d1ge57")


def test_a_script_runs(tmp_path):
    path = tmp_path / "found.py"
    path.write_text(to_script(LARGE, "A story.", []))
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "clean: " in done.stdout
    assert problems_of(LARGE) == ()
