"""Luck in labelled streams, and the names of calls."""

from __future__ import annotations

from tfsvc.errors import Code, Outcome, RpcError, from_exception, to_exception
from tfsvc.protocol import messages as m
from tfsvc.protocol.calls import BACKOFF_NS_MAX, BACKOFF_NS_MIN, Backoff, Calls
from tfsvc.protocol.ids import CallId
from tfsvc.protocol.luck import Luck


def test_a_stream_is_a_function_of_seed_and_label():
    assert Luck(1, "a").bits() == 9476629620713467165
    assert Luck(1, "a").bits() == Luck(1, "a").bits()
    assert len({Luck(1, "a").bits(), Luck(1, "b").bits(), Luck(2, "a").bits(), Luck(1, "a").stream("b").bits()}) == 4


def test_one_more_draw_here_shifts_nothing_there():
    one, two = Luck(1), Luck(1)
    one.bits()
    assert one.stream("x").bits() == two.stream("x").bits()


def test_luck_stays_within_its_bounds():
    luck = Luck(7, "bounds")
    assert all(0 <= luck.below(3) < 3 for _ in range(200))
    assert all(0 <= luck.unit() < 1 for _ in range(200))
    assert {luck.below(3) for _ in range(200)} == {0, 1, 2}


def test_a_call_has_one_outcome():
    calls: Calls[str] = Calls("n", 7)
    made = calls.make("peer", m.GetVersionRequest(), "about", 5)
    assert (made.call, made.timeout_ns) == (CallId("n", 7, 1), 5)
    closed = calls.close(made.call)
    assert closed is not None
    assert closed.about == "about"
    assert calls.close(made.call) is None
    assert calls.close(CallId("n", 6, 1)) is None


def test_the_wait_between_tries_doubles_and_is_bounded():
    backoff = Backoff(Luck(0))
    waits = [backoff.next(0) for _ in range(12)]
    assert all(BACKOFF_NS_MIN * 0.6 <= wait <= BACKOFF_NS_MAX for wait in waits)
    assert waits[-1] >= BACKOFF_NS_MAX * 0.6
    backoff.reset()
    assert backoff.next(0) <= BACKOFF_NS_MIN


def test_what_may_have_run_is_asked_again_like_what_was_not_reached():
    assert RpcError(Code.UNAVAILABLE, "").retriable
    assert RpcError(Code.DEADLINE_EXCEEDED, "", Outcome.UNKNOWN).retriable
    assert not RpcError(Code.DEADLINE_EXCEEDED, "").retriable
    assert not RpcError(Code.INVALID_ARGUMENT, "").retriable


def test_errors_go_out_and_come_back():
    for code in Code:
        if code is not Code.OK:
            raised = to_exception(RpcError(code, "why"))
            assert (raised.error_code, str(raised), raised.message) == (code, "why", "why")
            assert from_exception(raised).code == code
    assert from_exception(KeyError("k")).code == Code.UNKNOWN
    assert from_exception(ValueError("v"), "at line 1").message == "ValueError: v\nat line 1"
