"""How often one machine may call, and how many of its messages are awaited."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from tfsvc.protocol import messages as m
from tfsvc.service.security import Limits
from tfsvc_transports.grpc import intake
from tfsvc_transports.grpc.intake import MACHINES_MAX, Intake, Later, Pace

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


class Caller:
    """A call of one machine; its message comes after a while."""

    def peer(self):
        return "ipv4:10.0.0.7:1234"

    def message(self, seconds):
        time.sleep(seconds)
        yield b"said"


def receive_all(taken, count, seconds):
    callers = [Caller() for _ in range(count)]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda c: taken.receive(m.GetVersionRequest, c, c.message(seconds)), callers))


def test_calls_that_are_made_together_are_all_taken_in():
    count = intake.WAITS_MAX + intake.TURNS_MAX
    assert receive_all(Intake(Limits()), count, 0.05) == [b"said"] * count


def test_calls_beyond_those_whose_messages_do_not_come_are_refused_in_a_moment(monkeypatch):
    monkeypatch.setattr(intake, "TURN_S", 0.05)
    found = receive_all(Intake(Limits()), intake.WAITS_MAX + 10, 1.0)
    assert found.count(b"said") == intake.WAITS_MAX
    assert sum(isinstance(one, Later) for one in found) == 10


def test_only_so_many_wait_for_their_turn(monkeypatch):
    monkeypatch.setattr(intake, "TURNS_MAX", 5)
    found = receive_all(Intake(Limits()), intake.WAITS_MAX + 10, 0.5)
    assert found.count(b"said") == intake.WAITS_MAX + 5
