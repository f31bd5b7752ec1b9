"""Calibration: a model from samples tells again what they were drawn from."""

from __future__ import annotations

import pytest

from tfsvc_sim.research import run
from tfsvc_sim.research.calibration import Measured, distance, errors, fit


def test_a_run_is_foretold_from_its_samples():
    # Two workers that take 4 ms, a trainer that takes 20 ms for 16: the workers are the limit.
    measured = Measured(2, 1, 1600, 16, 1, [3.0, 5.0], [0.8] * 50, [20.0], 3.2, 1.2)
    found = errors(measured, run(fit(measured)))
    assert [error.figure for error in found] == ["epoch, s", "elements a second", "waited for steps, s"]
    assert all(abs(error.relative) < 0.1 for error in found), [str(error) for error in found]


def test_calls_are_halved_into_latencies():
    model = fit(Measured(1, 1, 10, 1, 1, [1.0], [1.0, 2.0, 2.0, 3.0, 3.0, 9.0], [1.0], 1.0, 0.0))
    assert model.latency.ns_min == 500_000
    assert model.latency.ns_max == 4_500_000


def test_without_samples_there_is_no_model():
    with pytest.raises(ValueError, match="calls"):
        fit(Measured(1, 1, 10, 1, 1, [1.0], [], [1.0], 1.0, 0.0))


def test_the_distance_of_samples():
    assert distance([1.0, 2.0], [2.0, 1.0]) == 0.0
    assert distance([1.0, 2.0], [3.0, 4.0]) == 1.0
    assert distance([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 9.0]) == 0.25
