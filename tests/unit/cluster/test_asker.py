"""The client half: every question is answered, or its wait ends."""

from __future__ import annotations

from typing import Any

import pytest

from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol.cluster.asker import Asker, AskerSettings
from tfsvc.protocol.contract import Answered, Call, Failed, Finish, Note, Posed, Stopped, Woke
from tfsvc.protocol.ids import SECOND, Address
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import cluster as c
from tfsvc.protocol.reading import Said

STEP = c.RunStepRequest("s", request_id=3)
LOST = RpcError(Code.UNAVAILABLE, "reset", Outcome.UNKNOWN)
REFUSED = RpcError(Code.UNAVAILABLE, "refused")


class Line:
    def __init__(self, request: Any = STEP, timeout_ns: int | None = None) -> None:
        self.asker = Asker("me", 1, Luck(1), AskerSettings(10 * SECOND, 2 * SECOND))
        self.now = 0
        self.words: list[Any] = []
        self.handle(Posed(1, Address("m:1"), request, timeout_ns))

    def handle(self, event: Any) -> None:
        self.words.extend(self.asker.handle(event, self.now).words)

    def call(self) -> Call:
        word = next(w for w in self.words if isinstance(w, Call))
        self.words.remove(word)
        return word

    def fail(self, error: RpcError) -> None:
        self.handle(Failed(self.call().call, error))

    def wake(self) -> None:
        self.now = self.asker.deadline()
        self.handle(Woke())

    @property
    def result(self) -> Any:
        found = [word.result for word in self.words if isinstance(word, Finish)]
        return found[0] if found else None


def test_an_answer_is_handed_over():
    line = Line()
    line.handle(Answered(line.call().call, c.RunStepResponse()))
    assert line.result == Said(c.RunStepResponse())


@pytest.mark.parametrize("code", [Code.ABORTED, Code.INVALID_ARGUMENT, Code.CANCELLED])
def test_a_masters_refusal_is_final(code):
    line = Line()
    line.fail(RpcError(code, "no"))
    assert line.result == RpcError(code, "no")


def test_a_master_that_died_is_tried_for_a_while_and_then_given_up():
    line = Line()
    line.fail(LOST)
    tries = 0
    while line.result is None:
        line.wake()
        line.fail(REFUSED)
        tries += 1
    assert tries > 3
    assert 2 * SECOND <= line.now < 4 * SECOND
    assert line.result.code is Code.UNAVAILABLE
    assert "may have run" in line.result.message


def test_the_same_request_is_asked_again_so_that_the_master_knows_it():
    line = Line()
    line.fail(LOST)
    line.wake()
    assert line.call().request == STEP


def test_a_call_that_was_not_answered_in_time_is_made_again_at_once():
    line = Line()
    line.fail(RpcError(Code.DEADLINE_EXCEEDED, "", Outcome.UNKNOWN))
    assert line.call().request == STEP


def test_a_first_question_waits_for_its_server_and_says_so():
    line = Line(c.CreateSessionRequest())
    while line.now < 10 * SECOND:
        line.fail(REFUSED)
        line.wake()
    assert line.result is None
    assert sum(isinstance(word, Note) for word in line.words) == 1


def test_a_deadline_ends_the_wait_whatever_it_is_for():
    for request in (STEP, c.CreateSessionRequest()):
        line = Line(request, SECOND)
        assert line.call().timeout_ns == SECOND
        line.wake()
        assert line.now == SECOND
        assert line.result.code is Code.DEADLINE_EXCEEDED


def test_closing_ends_all_waits():
    line = Line()
    line.handle(Stopped(2))
    assert line.result.code is Code.CANCELLED
    assert line.asker.view().open == 0


def test_a_call_that_was_held_for_long_is_asked_again_when_it_is_lost():
    line = Line()
    line.fail(LOST)
    line.wake()
    line.now += 100 * SECOND
    line.fail(LOST)
    assert line.result is None
    line.wake()
    assert line.call().request == STEP
