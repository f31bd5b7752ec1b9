"""How often one machine may call, and how many of its messages are awaited."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests import soon
from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.service.security import Limits
from tfsvc_transports.grpc import intake
from tfsvc_transports.grpc.intake import MACHINES_MAX, WAITS_MAX, Intake, Later, Pace

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
    """A call of one machine."""

    def cancel(self):
        raise AssertionError("its message is not late")


class Callers:
    """Calls of one machine, whose messages come when a test says so."""

    def __init__(self, limits=Limits()):  # noqa: B008
        self.awaited = []
        self.found = []
        self._intake = Intake(limits, lambda context, messages, came: self.awaited.append(came))

    def call(self, count, kind=m.GetVersionRequest, machine="10.0.0.7"):
        for port in range(count):
            self._intake.receive(kind, f"ipv4:{machine}:{port}", Caller(), iter(()), self.found.append)

    def come(self, count, data=b"said"):
        for _ in range(count):
            self.awaited.pop(0)(data)


def test_calls_that_are_made_together_are_all_taken_in_and_wait_for_their_turn():
    callers = Callers()
    callers.call(1000)
    assert len(callers.awaited) == WAITS_MAX
    callers.call(1, machine="10.0.0.8")
    assert len(callers.awaited) == WAITS_MAX + 1, "another machine need not wait"
    callers.come(1001)
    assert callers.found == [b"said"] * 1001


def test_calls_beyond_those_whose_messages_do_not_come_are_refused_in_a_moment(monkeypatch):
    monkeypatch.setattr(intake, "TURN_NS", SECOND // 20)
    callers = Callers()
    callers.call(WAITS_MAX + 10)
    soon.until(lambda: len(callers.found) == 10, seconds=10)
    assert all(isinstance(one, Later) and "64 calls are awaited" in one.text for one in callers.found)
    callers.come(WAITS_MAX)
    assert callers.found[10:] == [b"said"] * WAITS_MAX
    callers.call(1)
    callers.come(1)
    assert callers.found[-1] == b"said"


def test_a_machine_that_goes_too_fast_is_refused_when_its_turn_comes():
    callers = Callers(Limits(calls_per_second=WAITS_MAX + 2))
    callers.call(WAITS_MAX + 5)
    callers.come(WAITS_MAX + 2)
    assert callers.found.count(b"said") == WAITS_MAX + 2
    assert sum(isinstance(one, Later) for one in callers.found) == 3
    assert not callers.awaited


def test_an_error_and_the_end_of_a_call_are_handed_on_and_give_their_turns():
    callers = Callers()
    callers.call(WAITS_MAX + 2)
    error = RpcError(Code.INVALID_ARGUMENT, "the call has no message")
    callers.come(1, error)
    callers.come(1, None)
    assert callers.found == [error, None]
    assert len(callers.awaited) == WAITS_MAX


def test_what_holds_only_numbers_may_not_be_large(monkeypatch):
    monkeypatch.setattr(intake, "SMALL_BYTES_MAX", 3)
    callers = Callers()
    callers.call(1)
    callers.call(1, m.GetOrRegisterDatasetRequest)
    callers.come(2)
    refused, taken = callers.found
    assert isinstance(refused, RpcError)
    assert refused.code is Code.RESOURCE_EXHAUSTED
    assert taken == b"said"
