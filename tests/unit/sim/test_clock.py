"""Clocks: they go forward at their own rate, and say when they will show something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfsvc.protocol.ids import NEVER
from tfsvc_sim.kernel.clock import Clock


def test_a_clock_that_does_not_drift_is_the_world_shifted():
    clock = Clock(100, 1_000)
    assert (clock.reads(100), clock.reads(250)) == (1_000, 1_150)
    assert clock.when(1_150) == 250


def test_a_fast_clock_shows_more_and_a_slow_one_less():
    assert Clock(0, 0, 200_000).reads(1_000) == 1_200
    assert Clock(0, 0, -200_000).reads(1_000) == 800


def test_changes_count_from_now_on():
    clock = Clock(0, 0)
    clock.drift(1_000, 500_000)
    assert clock.reads(1_000) == 1_000
    assert clock.reads(2_000) == 2_500
    clock.jump(2_000, 10)
    assert clock.reads(2_000) == 2_510


def test_what_never_comes_never_comes():
    assert Clock(0, 5, 10).when(NEVER) == NEVER


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.integers(-900_000, 900_000), st.integers(0, 10**12))
def test_it_shows_a_reading_when_it_says_and_not_before(now, shows, ppm, ahead):
    clock = Clock(now, shows, ppm)
    at = clock.when(shows + ahead)
    assert clock.reads(at) >= shows + ahead
    assert at == now or clock.reads(at - 1) < shows + ahead


@pytest.mark.parametrize("ppm", [-1_000_000, -2_000_000])
def test_no_clock_stands_still_or_goes_back(ppm):
    with pytest.raises(AssertionError):
        Clock(0, 0, ppm)
