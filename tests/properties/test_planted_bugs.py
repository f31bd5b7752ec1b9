"""Planted bugs: each is caught by the simulator within a bounded number of seeds, or the simulator is no proof.

That the same seeds are clean without a bug is in ``test_sweep.py`` and below.
"""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from hypothesis import find, settings

from scenarios.kill_matrix import hunt, small
from scenarios.planted_bugs import BUGS, Bug
from scenarios.stories import Story, late, remainder, resume
from tests.properties.test_delivery import scenarios
from tfsvc.protocol.messages import ShardingPolicy
from tfsvc_sim.faults import label
from tfsvc_sim.playing.play import play
from tfsvc_sim.playing.seeds import heap_world, problems_of


def test_there_are_enough_of_them():
    assert len(BUGS) == len({bug.safeguard for bug in BUGS}) >= 15


@pytest.mark.timeout(300)
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.safeguard)
def test_a_planted_bug_is_caught(bug: Bug) -> None:
    assert hunt(bug) is not None


@pytest.mark.parametrize("story", [late, remainder, resume])
def test_without_a_bug_there_is_nothing_to_catch(story: Story) -> None:
    for seed in range(60):
        assert not story(seed, heap_world), seed


@pytest.mark.timeout(600)
def test_a_failure_shrinks_to_the_faults_that_matter() -> None:
    """What a person gets to read is a small cluster with a crash of the dispatcher, and at most what times it."""
    (bug,) = (bug for bug in BUGS if bug.safeguard == "leases are durable")
    with contextmanager(bug.plant)():
        found = find(
            scenarios(ShardingPolicy.DYNAMIC),
            lambda scenario: bool(play(scenario, heap_world).problems),
            settings=settings(max_examples=2000, derandomize=True, database=None),
        )
    assert any("dispatcher" in label(fault.what) for fault in found.faults)
    assert len(found.faults) <= 2
    assert len(found.workers) <= 2
    assert len(found.readers) == 1


QUICK = (
    "leases are durable",
    "a reader passes over what it had",
    "a lane takes its leases along",
    "a lane is done when it was taken, not when it was fetched",
    "workers divide one and the same order",
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("bug", [bug for bug in BUGS if bug.safeguard in QUICK], ids=lambda bug: bug.safeguard)
def test_what_catches_a_bug_shrinks_to_what_a_person_can_follow(bug: Bug) -> None:
    caught = hunt(bug)
    assert caught is not None
    shrunk = small(bug, caught.seed)
    assert shrunk is not None
    scenario = shrunk.scenario
    assert len(scenario.faults) <= 3
    assert scenario.workload.elements <= 10
    assert len(scenario.workers) + len(scenario.readers) <= 4
    with contextmanager(bug.plant)():
        assert problems_of(scenario, bug.make)
    assert not problems_of(scenario), "without the bug it is clean"
