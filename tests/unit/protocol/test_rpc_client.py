"""The RPC client alone: what it asks, repeats and gives up, event by event."""

from __future__ import annotations

from typing import Any

import pytest

from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Answered, Call, Event, Failed, Finish, Invoked, Stopped, Woke, Word
from tfsvc.protocol.ids import SECOND
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.reading import EndOfData, Said
from tfsvc.protocol.rpc.client import MAY_HAVE_RUN, RpcClient
from tfsvc.protocol.rpc.outgoing import ATTEMPT_NS
from tfsvc.protocol.rpc.wishes import Cancellation, Invocation, Listing, NextItem, Wish

MS = 1_000_000
X, Y = b"x", b"y"
UNREACHED = RpcError(Code.UNAVAILABLE, "connection refused", Outcome.UNREACHED)
LOST = RpcError(Code.UNAVAILABLE, "connection reset", Outcome.UNKNOWN)
LATE = RpcError(Code.DEADLINE_EXCEEDED, "no answer in time", Outcome.UNKNOWN)


class Bench:
    """A client on a bench; keeps the words of the last step."""

    def __init__(self, session: int | None = None) -> None:
        self.client = RpcClient("peer", "me", 1, Luck(0, "c"))
        self.now = 1
        self.words: list[Word] = []
        self._token = 0
        if session is not None:
            self.want(Listing())
            self.answer(self.the(Call), m.ListResponse(session=session))

    def tell(self, event: Event, later_ns: int = MS) -> list[Word]:
        self.now += later_ns
        self.words = list(self.client.handle(event, self.now).words)
        return self.words

    def want(self, wish: Wish) -> int:
        self._token += 1
        self.tell(Invoked(self._token, wish))
        return self._token

    def answer(self, call: Call, response: m.Response) -> None:
        self.tell(Answered(call.call, response))

    def fail(self, call: Call, error: RpcError) -> None:
        self.tell(Failed(call.call, error))

    def wake(self) -> None:
        """Lets time pass until the client wants something."""
        self.now = max(self.now, self.client.deadline())
        self.tell(Woke(), 0)

    def the(self, kind: type) -> Any:
        found = [word for word in self.words if isinstance(word, kind)]
        assert len(found) == 1, self.words
        return found[0]


def request(call: Call) -> m.CallRequest:
    assert isinstance(call.request, m.CallRequest)
    return call.request


def test_a_call_to_tensorflow_is_tensorflows():
    bench = Bench(session=0)
    token = bench.want(Invocation("f", (X,), timeout_ns=SECOND))
    call = bench.the(Call)
    assert (call.request, call.timeout_ns) == (m.CallRequest("f", (X,)), SECOND)
    bench.answer(call, m.CallResponse((Y,)))
    assert bench.words == [Finish(token, Said(m.CallResponse((Y,))))]


def test_calls_are_numbered_and_tell_what_is_done_with():
    bench = Bench(session=7)
    bench.want(Invocation("f", (X,)))
    first = bench.the(Call)
    bench.want(Invocation("f", (X,)))
    second = bench.the(Call)
    assert [(request(c).seq, request(c).floor) for c in (first, second)] == [(1, 1), (2, 1)]
    bench.answer(second, m.CallResponse())
    bench.want(Invocation("f", (X,)))
    assert (request(bench.the(Call)).seq, request(bench.words[0]).floor) == (3, 1)
    bench.answer(first, m.CallResponse())
    bench.want(Invocation("f", (X,)))
    assert (request(bench.the(Call)).seq, request(bench.words[0]).floor) == (4, 3)


def test_a_server_that_is_not_there_is_waited_for():
    bench = Bench(session=0)
    token = bench.want(Invocation("f", (X,), timeout_ns=SECOND))
    for _ in range(3):
        bench.fail(bench.the(Call), UNREACHED)
        assert bench.words == []
        bench.wake()
    bench.now += SECOND
    bench.fail(bench.the(Call), UNREACHED)
    finished = bench.the(Finish)
    assert finished.token == token
    assert finished.result.code is Code.DEADLINE_EXCEEDED


@pytest.mark.parametrize("session", [0, 7])
def test_a_call_that_may_have_run_is_not_repeated_unless_it_may_be(session):
    bench = Bench(session)
    token = bench.want(Invocation("f", (X,)))
    bench.fail(bench.the(Call), LOST)
    assert bench.words == [Finish(token, LOST)]


def test_a_call_that_may_be_repeated_keeps_its_number():
    bench = Bench(session=7)
    token = bench.want(Invocation("f", (X,), retry=True))
    first = bench.the(Call)
    assert first.timeout_ns == ATTEMPT_NS
    for error in (LOST, LATE):
        bench.fail(bench.words[0], error)  # type: ignore[arg-type]
        assert bench.words == []
        bench.wake()
        assert request(bench.the(Call)) == request(first)
    bench.answer(bench.the(Call), m.CallResponse((Y,)))
    assert bench.words == [Finish(token, Said(m.CallResponse((Y,))))]


def test_tensorflow_is_not_asked_again():
    bench = Bench(session=0)
    token = bench.want(Invocation("f", (X,), retry=True))
    bench.fail(bench.the(Call), LOST)
    assert bench.words == [Finish(token, LOST)]


def test_an_error_of_the_function_is_final():
    bench = Bench(session=7)
    token = bench.want(Invocation("f", (X,), retry=True))
    error = RpcError(Code.UNAVAILABLE, "the function says so")
    bench.fail(bench.the(Call), error)
    assert bench.words == [Finish(token, error)]


def test_a_restarted_server_is_asked_anew_if_the_call_surely_did_not_run():
    bench = Bench(session=7)
    bench.want(Invocation("f", (X,)))
    bench.answer(bench.the(Call), m.CallResponse(refusal=m.Refusal.SESSION))
    assert bench.the(Call).request == m.ListRequest(open_session=True)
    bench.answer(bench.the(Call), m.ListResponse(session=8))
    assert (request(bench.the(Call)).session, request(bench.words[0]).seq) == (8, 1)


def test_and_not_if_it_may_have_run():
    bench = Bench(session=7)
    token = bench.want(Invocation("f", (X,), retry=True))
    bench.fail(bench.the(Call), LOST)
    bench.wake()
    bench.answer(bench.the(Call), m.CallResponse(refusal=m.Refusal.SESSION))
    assert bench.words == [Finish(token, MAY_HAVE_RUN)]


def test_a_cancelled_call_ends_and_its_server_hears_of_it():
    bench = Bench(session=7)
    token = bench.want(Invocation("f", (X,)))
    call = bench.the(Call)
    cancelling = bench.want(Cancellation(token))
    assert bench.the(Call).request == m.CancelCallRequest(7, 1)
    ends = {word.token: word.result for word in bench.words if isinstance(word, Finish)}
    assert ends[cancelling] is None
    assert isinstance(ends[token], RpcError)
    assert ends[token].code is Code.CANCELLED
    bench.answer(call, m.CallResponse((Y,)))
    assert bench.words == []


def test_a_listing_waits_as_long_as_it_is_told_to():
    bench = Bench()
    token = bench.want(Listing(timeout_ns=100 * MS))
    while not any(isinstance(word, Finish) for word in bench.words):
        calls = [word for word in bench.words if isinstance(word, Call)]
        if calls:
            bench.fail(calls[0], UNREACHED)
        bench.wake()
    assert bench.the(Finish).token == token
    assert bench.the(Finish).result.code is Code.DEADLINE_EXCEEDED
    assert bench.now < 200 * MS


def test_a_stream_is_read_in_order_and_a_lost_read_is_made_again():
    bench = Bench(session=7)
    token = bench.want(Invocation("s", (X,), streams=True))
    bench.answer(bench.the(Call), m.CallResponse())
    assert bench.the(Finish).token == token
    wanted = bench.want(NextItem(token))
    fetch = bench.the(Call)
    assert (fetch.request.seq, fetch.request.ordinal) == (1, 0)
    bench.fail(fetch, LOST)
    bench.wake()
    assert bench.the(Call).request == fetch.request
    bench.answer(bench.the(Call), m.FetchItemsResponse((m.CallResponse((X,)), m.CallResponse((Y,)))))
    assert Finish(wanted, Said(m.CallResponse((X,)))) in bench.words
    assert bench.the(Call).request.ordinal == 2
    last = bench.the(Call)
    second = bench.want(NextItem(token))
    assert bench.words == [Finish(second, Said(m.CallResponse((Y,))))]
    bench.answer(last, m.FetchItemsResponse(ended=True))
    third = bench.want(NextItem(token))
    assert bench.words == [Finish(third, EndOfData())]
    closing = bench.want(Cancellation(token))
    assert bench.words == [Finish(closing, None)], "the server knows that it has ended"


def test_results_stream_from_our_servers_only():
    bench = Bench(session=0)
    bench.want(Invocation("s", (X,), streams=True))
    assert bench.the(Finish).result.code is Code.UNIMPLEMENTED


def test_a_closed_client_ends_everything_and_its_session():
    bench = Bench(session=7)
    token = bench.want(Invocation("f", (X,)))
    bench.tell(Stopped(99))
    assert bench.the(Finish).token == token
    assert bench.the(Call).request == m.EndSessionRequest(7)
    bench.answer(bench.the(Call), m.EndSessionResponse())
    assert bench.words == [Finish(99, None)]
    late = bench.want(Invocation("f", (X,)))
    assert bench.the(Finish).token == late
    assert bench.the(Finish).result.code is Code.CANCELLED
