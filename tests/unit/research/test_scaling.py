"""Scalers answer loads as their authors say."""

from __future__ import annotations

from dataclasses import replace

from tfsvc_sim.research.outcome import jain, quantile, reversals
from tfsvc_sim.research.scaling import Busy, Cachews, Hold, Load, Queue, TensorFlows

LOAD = Load(0.0, 4, 4, [2.0, 4.0], [0.5, 1.0], 10.0, 0.0, 0.7, 0.5)


def test_hold_and_tensorflows_formula():
    assert Hold().workers(LOAD) == 4
    # Demand 2 + 1 elements a ms; a worker makes (1/2 + 1/4) / 2.
    assert TensorFlows().workers(LOAD) == 8
    assert TensorFlows().workers(replace(LOAD, worker_ms=[])) == 4


def test_cachew_climbs_while_it_helps_and_goes_back_when_not():
    scaler = Cachews()
    answers, workers = [], 1
    for step_ms in (100.0, 50.0, 33.0, 32.5):
        workers = scaler.workers(replace(LOAD, workers=workers, wanted=workers, step_ms=step_ms))
        answers.append(workers)
    assert answers == [2, 3, 4, 3]
    assert scaler.workers(replace(LOAD, workers=3, wanted=3, step_ms=33.0)) == 3


def test_cachew_waits_for_workers_and_looks_again_after_a_while():
    scaler = Cachews()
    assert scaler.workers(replace(LOAD, workers=2, wanted=3)) == 3
    for step_ms in (100.0, 99.0):
        scaler.workers(replace(LOAD, step_ms=step_ms))
    stable = [scaler.workers(replace(LOAD, step_ms=200.0)) for _ in range(Cachews.STABLE)]
    assert stable[:-1] == [4] * (Cachews.STABLE - 1)
    assert stable[-1] == 5


def test_busy_and_queue():
    assert Busy().workers(LOAD) == 4
    assert Busy().workers(replace(LOAD, busy=1.0)) == 6
    assert Queue().workers(replace(LOAD, queued=0.1)) == 5
    assert Queue().workers(replace(LOAD, queued=0.95)) == 3
    assert Queue().workers(replace(LOAD, waited=0.2)) == 5
    assert Queue().workers(replace(LOAD, workers=3, waited=0.2)) == 4


def test_figures():
    assert jain([1.0, 1.0]) == 1.0
    assert jain([1.0, 0.0]) == 0.5
    assert jain([]) == 1.0
    assert quantile([1, 2, 3, 4], 0.5) == 3
    assert quantile([], 0.5) == 0
    assert reversals([1, 2, 3, 3, 2, 2, 4]) == 2
