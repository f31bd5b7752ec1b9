"""Planted bugs: each is caught by the simulator within a bounded number of seeds, or the simulator is no proof.

That the same seeds are clean without a bug is in ``test_sweep.py`` and below.
"""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from hypothesis import find, settings

from scenarios.kill_matrix import hunt
from scenarios.planted_bugs import BUGS, Bug
from scenarios.stories import Story, heap_world, late, remainder, resume
from tests.properties.test_delivery import scenarios
from tfsvc.protocol.messages import ShardingPolicy
from tfsvc_sim.faults import Crash
from tfsvc_sim.play import play


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
    assert any(isinstance(fault.what, Crash) and fault.what.node == "dispatcher" for fault in found.faults)
    assert len(found.faults) <= 2
    assert len(found.workers) <= 2
    assert len(found.readers) == 1
