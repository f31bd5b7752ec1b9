"""The contract of policies: the built-in ones keep it, and it notices whoever does not."""

from __future__ import annotations

import pytest

from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.steering import Shift
from tfsvc_sim.research.contract import PolicyContract, check
from tfsvc_sim.research.policies import POLICIES, Guided, LargestFirst, OneByOne, Pieces, Speculative, Static, Stealing

SEEDS = 8


class TestStatic(PolicyContract):
    policy = Static
    seeds = SEEDS


class TestOneByOne(PolicyContract):
    policy = OneByOne
    seeds = SEEDS


class TestGuided(PolicyContract):
    policy = Guided
    seeds = SEEDS


class TestLargestFirst(PolicyContract):
    policy = LargestFirst
    seeds = SEEDS


class TestPieces(PolicyContract):
    policy = Pieces
    seeds = SEEDS


class TestStealing(PolicyContract):
    policy = Stealing
    seeds = SEEDS


class TestSpeculative(PolicyContract):
    policy = Speculative
    seeds = SEEDS


def test_every_built_in_policy_is_tested():
    tested = {cls.policy for cls in PolicyContract.__subclasses__()}
    assert set(POLICIES.values()) <= tested


class Losing(Guided):
    def splits(self, source, workers):
        return source.spans()[1:]


class Doubling(Guided):
    def splits(self, source, workers):
        return [*source.spans(), source.spans()[0]]


class Fractions(Guided):
    def lease(self, question):
        return question.wanted / 2


class Moody(Guided):
    made = 0

    def lease(self, question):
        Moody.made += 1
        return 1 + Moody.made % 7


class Restless(Static):
    """Moves every lane before it gets anywhere."""

    every_ns = 200 * MILLISECOND

    def shifts(self, situation):
        workers = sorted({lane.worker for lane in situation.lanes} | set(situation.idle))
        for lane in situation.lanes:
            yield Shift(lane.lane_id, workers[(workers.index(lane.worker) + 1) % len(workers)])


@pytest.mark.parametrize(
    ("policy", "what"),
    [
        (Losing, "in no split"),
        (Doubling, "two splits"),
        (Fractions, "give an int"),
        (Moody, "differs from run to run"),
        (Restless, "did not come to an end|made of"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_policy_that_breaks_it_is_told_how(policy, what):
    suite = type("Suite", (PolicyContract,), {"policy": policy, "seeds": 0})()
    tests = [getattr(suite, name) for name in vars(PolicyContract) if name.startswith("test_")]
    quick = [t for t in tests if "single_fault" not in t.__name__ and "crowds" not in t.__name__]
    with pytest.raises(AssertionError, match=what):
        [test() for test in quick]


def test_one_line_checks_it_all():
    assert check(Guided, seeds=1) == 7
