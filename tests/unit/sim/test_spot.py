"""Spot traces become preemptions, each with its notice."""

from __future__ import annotations

import pytest

from tfsvc_sim.faults import Fault, Preempt
from tfsvc_sim.faults.spot import preemptions


def test_instances_become_workers_in_their_order():
    trace = "# an afternoon\n10, b, down\n12.5,a,down # at lunch\n\n20, b, up\n"
    assert preemptions(trace, faster=10, notice_ms=500) == (
        Fault(Preempt("worker0", 50), at_ms=1000, for_ms=1000),
        Fault(Preempt("worker1", 50), at_ms=1250, for_ms=None),
    )


def test_who_comes_up_at_first_was_not_away():
    assert preemptions("0, a, up\n") == ()


@pytest.mark.parametrize(
    ("trace", "error"),
    [
        ("10, a", "line 1"),
        ("1, a, down\n2, a, down", "line 2 of the trace: a cannot go 'down'"),
        ("x, a, up", "line 1"),
    ],
)
def test_a_line_that_makes_no_sense_is_named(trace, error):
    with pytest.raises(ValueError, match=error):
        preemptions(trace)
