"""How often one machine may call."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tfsvc_transports.grpc.intake import MACHINES_MAX, Pace

SECOND = 10**9


class Clock:
    now = 0

    def __call__(self) -> int:
        return self.now


def test_a_rested_machine_may_be_a_second_ahead():
    clock = Clock()
    pace = Pace(10, clock)
    clock.now = 5 * SECOND
    assert [pace.allows("a") for _ in range(12)] == [True] * 10 + [False] * 2
    assert pace.allows("b")
    clock.now += SECOND // 10
    assert [pace.allows("a") for _ in range(2)] == [True, False]


def test_no_rate_is_no_limit():
    pace = Pace(0)
    assert all(pace.allows("a") for _ in range(1000))


def test_it_remembers_only_so_many_machines():
    clock = Clock()
    clock.now = SECOND
    pace = Pace(1, clock)
    for number in range(2 * MACHINES_MAX):
        assert pace.allows(str(number))
    assert len(pace._used) == MACHINES_MAX
    assert not pace.allows(str(2 * MACHINES_MAX - 1))


@given(st.integers(1, 1000), st.lists(st.integers(0, SECOND), max_size=100))
def test_no_machine_goes_faster_than_it_may(rate, waits):
    clock = Clock()
    clock.now = SECOND
    pace = Pace(rate, clock)
    allowed = 0
    for wait in waits:
        clock.now += wait
        allowed += pace.allows("a")
        assert (allowed - rate) * (SECOND // rate) <= clock.now - SECOND
