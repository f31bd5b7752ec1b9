"""Claims: each mode is checked as it says, and a claim that nobody could check is not shown."""

from __future__ import annotations

import pytest

from tfsvc_sim.faults import Crash, Fault, Message, Record
from tfsvc_sim.judging.claims import Claim, always, eventually, reachable, sometimes
from tfsvc_sim.judging.verdict import Verdict
from tfsvc_sim.playing.play import play
from tfsvc_sim.playing.scenario import Scenario, workers
from tfsvc_sim.playing.workloads import Workload

SCENARIO = Scenario(
    workload=Workload("range", 60), workers=workers(2), faults=(Fault(Crash("worker1"), at_ms=100, for_ms=200),)
)


def judged(claim: Claim) -> Verdict:
    return play(SCENARIO, claims=(claim,))


@pytest.mark.parametrize(
    "claim",
    [
        always("time goes on", lambda world: world.now > 0),
        sometimes("a worker is dead", lambda world: not world.nodes["worker1"].alive),
        eventually("the worker is back", lambda world: world.nodes["worker1"].incarnation == 2),
        reachable("leases are asked for", Message("LeaseSplits")),
    ],
)
def test_what_is_true_is_no_problem(claim: Claim):
    assert judged(claim).problems == ()


@pytest.mark.parametrize(
    ("claim", "problem"),
    [
        (always("no worker dies", lambda world: world.nodes["worker1"].alive), "not always: no worker dies; at "),
        (
            eventually("it comes thrice", lambda world: world.nodes["worker1"].incarnation == 3),
            "never: it comes thrice",
        ),
        (
            eventually("late", lambda world: world.nodes["worker1"].incarnation == 2, within_ms=0),
            "never: late, within 0",
        ),
    ],
)
def test_what_is_not_true_is_told(claim: Claim, problem: str):
    (found,) = judged(claim).problems
    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("claim", "met"),
    [
        (sometimes("dead", lambda world: not world.nodes["worker1"].alive), True),
        (sometimes("two dead", lambda world: not any(world.nodes[w].alive for w in world.workers)), False),
        (reachable("a lane moves", Record("MoveLane")), True),
        (reachable("a lane moves nine times", Record("MoveLane", 9)), False),
    ],
)
def test_rare_claims_are_marks_of_the_runs_in_which_they_came_true(claim: Claim, met: bool):
    verdict = judged(claim)
    assert verdict.problems == ()
    assert (claim.name in verdict.marks) == met


def test_looking_changes_nothing():
    claims = (always("a", lambda world: True), reachable("b", Message("GetFrames", nth=3)))
    assert play(SCENARIO, claims=claims).digest == play(SCENARIO).digest
