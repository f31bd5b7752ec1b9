"""The contract of policies: what a policy may never break, whatever it decides and whatever goes wrong.

    check(MyPolicy)

or, as tests:

    class TestMyPolicy(PolicyContract):
        policy = MyPolicy
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from tfsvc.protocol.messages import ShardingPolicy
from tfsvc.protocol.splits import Span
from tfsvc.protocol.steering import LeaseQuestion, Steering
from tfsvc_sim.faults import Crash, Cut, Fault, Pause, Slow
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.nodes.tempo import Tempo
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.play import play
from tfsvc_sim.playing.scenario import Scenario
from tfsvc_sim.playing.swarm import draw
from tfsvc_sim.playing.workloads import KINDS, Workload
from tfsvc_sim.research.costs import Costs, Straggling
from tfsvc_sim.research.experiment import Experiment
from tfsvc_sim.research.lab import Lab
from tfsvc_sim.research.laws import Exponential, Fixed, LogNormal, Pareto
from tfsvc_sim.research.policy import Policy
from tfsvc_sim.research.running import run
from tfsvc_sim.research.source import Source

SEEDS: Final = 100
"""Random scenarios with real pipelines."""
SOURCES: Final = (
    Source((1,)),
    Source((5, 1, 9)),
    Source.even(200, 7),
    Source.zipf(300, 12),
)


class PolicyContract:
    """Tests for pytest; a subclass says which ``policy``."""

    policy: ClassVar[type[Policy]] = Policy
    seeds: ClassVar[int] = SEEDS

    def test_splits_hold_every_element_once(self) -> None:
        for source in SOURCES:
            for workers in (1, 2, 5):
                every_element_once(self.policy().splits(source, workers), source)

    def test_leases_are_numbers(self) -> None:
        for question in questions():
            got = self.policy().lease(question)
            assert type(got) is int, f"{self.policy.__name__}.lease({question}) gives {got!r}; give an int"

    def test_random_faults_lose_and_repeat_nothing(self) -> None:
        for seed in range(self.seeds):
            scenario = scenario_of(seed)
            verdict = play(scenario, steered(self.policy))
            assert not verdict.problems, f"seed {seed}: {'; '.join(verdict.problems)}\n{scenario}"

    def test_every_single_fault_loses_and_repeats_nothing(self) -> None:
        for fault in SMALL_FAULTS:
            for late in SMALL_FAULTS:
                _exactly_once(small(self.policy, (fault, replace(late, at_ms=late.at_ms + 350))))

    def test_crowds_of_crashes_lose_and_repeat_nothing(self) -> None:
        for seed in range(3):
            _exactly_once(replace(rough(self.policy), seed=seed))

    def test_work_is_not_done_over_and_over(self) -> None:
        costs = Costs(operators=(Fixed(4.0),), worker=LogNormal(1.0, 0.5), step_ms=Fixed(1.0))
        experiment = Experiment(Source.zipf(10_000, 80), costs, self.policy, workers=8, until_s=60)
        got = run(replace(experiment, faults=(Fault(Slow("worker3", 4), for_ms=None),)))
        assert got.ended, f"{self.policy.__name__} did not come to an end in 60 s with one slow worker"
        assert got.made <= 3 * got.elements, f"{self.policy.__name__} had {got.made} elements made of {got.elements}"

    def test_a_seed_runs_alike_twice(self) -> None:
        digests = []
        for _ in range(2):
            lab = Lab(rough(self.policy))
            lab.set_up()
            lab.run_to(lab.experiment.until_s)
            digests.append(lab.trace.digest())
        assert digests[0] == digests[1], f"{self.policy.__name__} decides by something that differs from run to run"


def check(policy: type[Policy], seeds: int = SEEDS) -> int:
    """Runs the whole contract on a policy; gives how many parts there were.

    Raises:
      AssertionError: where it is broken, with the seed or the faults that do it.
    """
    suite = type(f"{policy.__name__}Contract", (PolicyContract,), {"policy": policy, "seeds": seeds})()
    parts = [name for name in vars(PolicyContract) if name.startswith("test_")]
    for name in parts:
        getattr(suite, name)()
    return len(parts)


def every_element_once(splits: Sequence[Span], source: Source) -> None:
    """Asserts that splits are a way to divide the source."""
    seen = bytearray(source.elements)
    for lo, hi in splits:
        assert 0 <= lo < hi <= source.elements, f"a split {lo}..{hi} of {source.elements} elements"
        assert not any(seen[lo:hi]), f"two splits hold elements of {lo}..{hi}"
        seen[lo:hi] = b"\1" * (hi - lo)
    assert all(seen), f"element {seen.find(0)} is in no split"


def questions() -> Iterator[LeaseQuestion]:
    """Questions at the edges."""
    for left, total in ((None, None), (0, 10), (1, 10), (10, 10), (1000, 100_000)):
        for sharers in (1, 2, 64):
            for wanted in (1, 16, 65536):
                yield LeaseQuestion("worker0", wanted, 3, left, total, sharers)


def scenario_of(seed: int) -> Scenario:
    """A random scenario in which lanes share splits, with more data than most."""
    scenario = draw(seed)
    kind = scenario.workload.kind
    if ShardingPolicy.DYNAMIC not in KINDS[kind].policies:
        kind = "range"
    size = scenario.workload.size if seed % 3 else 150
    return replace(scenario, workload=Workload(kind, size), policy=ShardingPolicy.DYNAMIC, lanes=0)


def steered(policy: type[Policy]) -> Callable[[int, Tempo], World]:
    """Makes worlds whose dispatchers go by a policy."""

    class Steered(World):
        def steering(self) -> Steering:
            return policy()

    return lambda seed, tempo: Steered(seed, tempo, engine=HeapEngine(seed))


SMALL_FAULTS: Final = (
    Fault(Slow("worker0"), at_ms=100, for_ms=3000),
    Fault(Crash("worker0"), at_ms=150, for_ms=500),
    Fault(Crash("worker1", silent=True), at_ms=250, for_ms=2000),
    Fault(Crash("dispatcher"), at_ms=300, for_ms=500),
    Fault(Pause("worker1"), at_ms=200, for_ms=4000),
    Fault(Cut("worker0", "reader0"), at_ms=120, for_ms=2000),
    Fault(Cut("worker1", "dispatcher", oneway=True), at_ms=50, for_ms=4000),
)
"""Each of them with each other is tried on a small cluster."""


def small(policy: type[Policy], faults: tuple[Fault, ...]) -> Experiment:
    """Two workers, a reader, a dozen splits."""
    costs = Costs(operators=(Fixed(8.0),), step_ms=Fixed(1.0), batch=4)
    return Experiment(Source((20, 3, 40, 5, 9, 12, 7, 31, 2, 6)), costs, policy, workers=2, faults=faults, until_s=600)


def rough(policy: type[Policy]) -> Experiment:
    """Workers that crash every twenty seconds, stragglers, and costs with heavy tails."""
    costs = Costs(
        operators=(Pareto(3.0, 1.5), LogNormal(2.0, 1.0)),
        open_ms=Exponential(20.0),
        worker=LogNormal(1.0, 0.3),
        straggling=Straggling(0.1),
        step_ms=Fixed(20.0),
    )
    source = Source.zipf(8000, 60)
    return Experiment(source, costs, policy, workers=6, trainers=3, crash_rate=180, restart_s=3, until_s=1800)


def _exactly_once(experiment: Experiment) -> None:
    lab = Lab(experiment)
    lab.set_up()
    lab.run_to(experiment.until_s)
    got = lab.meter.outcome()
    name, faults = experiment.policy.__name__, [fault.what for fault in experiment.faults]
    assert got.ended, f"{name} did not come to an end in {experiment.until_s} s, seed {experiment.seed}, {faults}"
    assert not got.missing, f"{name} lost {got.missing} elements, seed {experiment.seed}, {faults}"
    assert not got.repeated, f"{name} gave {got.repeated} elements twice, seed {experiment.seed}, {faults}"
