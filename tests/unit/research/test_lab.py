"""Experiments beside their closed forms, with the real machines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tfsvc_sim.faults import Crash, Fault, Slow
from tfsvc_sim.kernel.engine import SimPyEngine
from tfsvc_sim.research import Buffers, Costs, Experiment, Lab, Lengths, Reading, Source, run
from tfsvc_sim.research.laws import Exponential, Fixed
from tfsvc_sim.research.policies import POLICIES
from tfsvc_sim.research.running import fork, same
from tfsvc_sim.research.scaling import Queue

COSTS = Costs(operators=(Fixed(4.0),), step_ms=Fixed(32.0), batch=32)
SMALL = Buffers(frame=16, worker=64, trainer=512)
BASE = Experiment(Source.even(50_000, 50), COSTS, trainers=2, until_s=4.0, buffers=SMALL)


@pytest.mark.parametrize("workers", [1, 3, 12])
def test_throughput_is_what_is_made_or_what_is_taken(workers):
    expected = min(BASE.trainers * COSTS.demand, workers * COSTS.worker_rate)
    assert run(replace(BASE, workers=workers)).goodput == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize(
    "limited", [replace(COSTS, storage_bytes_per_s=6e6), replace(COSTS, link_bytes_per_s=3e6)], ids=["storage", "cards"]
)
def test_a_storage_or_a_network_card_may_be_the_limit(limited):
    # 16 s, since a reader whose window has no room left would only stop after a while.
    outcome = run(replace(BASE, workers=12, costs=limited, until_s=16.0))
    assert outcome.goodput == pytest.approx(600, rel=0.03)


def test_what_is_stalled_is_what_is_not_made():
    outcome = run(replace(BASE, workers=4))
    assert outcome.stall == pytest.approx(0.5, abs=0.04)
    assert outcome.step_ms == pytest.approx(64, rel=0.08)
    assert outcome.worker_s == pytest.approx(16.0, rel=0.01)
    assert outcome.fairness > 0.99


def test_crashes_lose_and_repeat_nothing_and_cost_no_more_than_what_was_made():
    fault = Fault(Crash("worker1"), at_ms=1000, for_ms=2000)
    outcome = run(replace(BASE, source=Source.even(4000, 50), faults=(fault,), until_s=600.0))
    assert outcome.ended
    assert not outcome.missing
    assert not outcome.repeated
    # What it had made in a second, and what its two pipelines were at.
    assert 0 < outcome.made - outcome.elements <= 1000 / 4 + 2 * 5


def test_trainers_of_a_cache_share_what_is_made():
    cached = Experiment(
        Source.even(5000, 50),
        Costs(step_ms=Fixed(8.0), batch=1),
        workers=2,
        trainers=4,
        steps=500,
        reading=Reading.CACHED,
        buffers=Buffers(worker=16, trainer=8, cache=128),
    )
    outcome = run(cached)
    assert 1 - outcome.made / outcome.elements == pytest.approx(1 - 1 / 4, abs=0.04)
    slow = run(replace(cached, trainers=2, slowness=(1.0, 4.0), until_s=4.0))
    assert slow.skipped > 0


def test_rounds_of_one_length_are_as_short_as_that():
    rounds = Experiment(
        Source.even(5000, 100),
        Costs(operators=(Fixed(0.05),)),
        workers=1,
        trainers=4,
        steps=300,
        reading=Reading.COORDINATED,
        lengths=Lengths(Exponential(10.0), alike=4),
    )
    together = run(rounds).step_ms
    at_random = run(replace(rounds, lengths=Lengths(Exponential(10.0), alike=1))).step_ms
    # The largest of four exponential times is 1 + 1/2 + 1/3 + 1/4 of their mean.
    assert at_random / together == pytest.approx(25 / 12, rel=0.12)


def test_endless_reading_needs_an_end():
    with pytest.raises(ValueError, match="steps"):
        Experiment(reading=Reading.CACHED)


def test_an_experiment_runs_alike_on_both_engines():
    experiment = replace(BASE, source=Source.even(2000, 20), crash_rate=600, until_s=60.0)
    digests = []
    for engine in (None, SimPyEngine(experiment.seed)):
        lab = Lab(experiment, engine=engine)
        lab.set_up()
        lab.run_to(experiment.until_s)
        digests.append(lab.trace.digest())
    assert digests[0] == digests[1]


def test_policies_meet_the_same_costs():
    outcomes = [
        run(replace(BASE, source=Source.even(2000, 20), policy=policy, until_s=600.0, trainers=1, workers=1))
        for policy in (POLICIES["Static"], POLICIES["OneByOne"])
    ]
    assert outcomes[0].busy_s == outcomes[1].busy_s


def test_a_run_forks_from_one_past():
    experiment = replace(
        BASE,
        source=Source.even(6000, 50),
        faults=(Fault(Slow("worker3", 20), at_ms=1500, for_ms=None),),
        until_s=600.0,
    )
    got = fork(experiment, 1.0, {"as it was": same, "worker3 is well": lambda lab: lab.pardon("worker3")})
    assert got["as it was"] == run(experiment)
    assert got["worker3 is well"].epoch_s < got["as it was"].epoch_s


def test_a_branch_with_another_past_is_noticed():
    pasts = iter([0, 1])

    class Forgetful(POLICIES["OneByOne"]):
        def splits(self, source, workers):
            found = source.spans()
            return found[::-1] if next(pasts) else found

    experiment = replace(BASE, source=Source((5, 500, 30)), policy=Forgetful)
    Forgetful.lease = lambda self, question: 1
    with pytest.raises(AssertionError, match="another past"):
        fork(experiment, 0.5, {"one": same, "other": same})


def test_a_scaler_hires_and_fires_and_who_left_is_not_paid():
    experiment = replace(BASE, scaling=Queue, workers=1, until_s=40.0, scale_every_s=1.0, workers_max=20)
    outcome = run(experiment)
    assert outcome.workers_max > 8
    assert outcome.worker_s < outcome.workers_max * 40
    assert outcome.stall < 0.4


def test_a_worker_is_paid_from_its_hiring_to_its_end():
    lab = Lab(replace(BASE, workers=2))
    lab.set_up()
    lab.run_to(1.0)
    lab.fire()
    lab.run_to(3.0)
    lab.hire()
    lab.run_to(4.0)
    # 4 s, 1 s and a little to take leave, and 1 s.
    assert lab.meter.outcome().worker_s == pytest.approx(6.0, abs=0.3)
