"""The RPC server alone: what it runs, answers and refuses, event by event."""

from __future__ import annotations

from typing import Any

import pytest

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import (
    Abandon,
    Asked,
    Cancelled,
    Event,
    Execute,
    Executed,
    Finish,
    Pull,
    Pulled,
    Reply,
    Stopped,
    Woke,
    Word,
)
from tfsvc.protocol.ids import NEVER, Address, CallId
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.rpc.server import RpcServer
from tfsvc.protocol.rpc.settings import MethodSettings, RpcServerSettings

MS = 1_000_000
X, Y = b"x", b"y"


def method(name: str, **more: Any) -> MethodSettings:
    return MethodSettings(m.RegisteredMethod(name, streams=more.pop("streams", False)), **more)


def answer(*tensors: bytes) -> m.CallResponse:
    return m.CallResponse(tensors)


class Bench:
    """A server on a bench; keeps the words of the last step."""

    def __init__(self, *methods: MethodSettings, **settings: Any) -> None:
        self.server = RpcServer(methods or (method("f"),), RpcServerSettings(**settings), Luck(0, "s"))
        self.now = 1
        self.words: list[Word] = []
        self._seq = 0

    def tell(self, event: Event, later_ns: int = MS) -> list[Word]:
        self.now += later_ns
        self.words = list(self.server.handle(event, self.now).words)
        return self.words

    def ask(self, request: m.Request, later_ns: int = MS) -> CallId:
        self._seq += 1
        call = CallId("peer", 1, self._seq)
        self.tell(Asked(call, Address("peer"), request), later_ns)
        return call

    def the(self, kind: type) -> Any:
        found = [word for word in self.words if isinstance(word, kind)]
        assert len(found) == 1, self.words
        return found[0]

    def session(self) -> int:
        self.ask(m.ListRequest(open_session=True))
        return self.the(Reply).answer.session


def test_a_call_runs_and_is_answered():
    bench = Bench()
    call = bench.ask(m.CallRequest("f", (X,)))
    assert bench.words == [Execute(1, "f", ((X,),))]
    assert bench.tell(Executed(1, (answer(Y),))) == [Reply(call, answer(Y))]


def test_a_call_that_nobody_waits_for_does_not_begin_unless_it_may_be_repeated():
    bench = Bench(method("f", running_max=1))
    bench.ask(m.CallRequest("f", (X,)))
    bench.tell(Cancelled(bench.ask(m.CallRequest("f", (X,)))))
    bench.tell(Cancelled(bench.ask(m.CallRequest("f", (Y,), bench.session(), 1, 1))))
    last = bench.ask(m.CallRequest("f", (b"z",)))
    assert bench.server.view().waiting == {"f": 2}
    bench.tell(Executed(1, (answer(Y),)))
    assert bench.the(Execute).calls == ((Y,),)
    bench.tell(Executed(2, (answer(Y),)))
    assert bench.tell(Executed(3, (answer(Y),))) == [Reply(last, answer(Y))]


def test_a_listing_tells_the_methods_and_opens_a_session_only_for_who_asks():
    bench = Bench(method("f"), method("g"))
    bench.ask(m.ListRequest())
    assert bench.the(Reply).answer == m.ListResponse((m.RegisteredMethod("f"), m.RegisteredMethod("g")), 0)
    assert bench.session() != bench.session() != 0


def test_a_method_that_is_not_there():
    bench = Bench()
    bench.ask(m.CallRequest("g"))
    assert bench.the(Reply).answer == RpcError(Code.INVALID_ARGUMENT, "g is not registered.")


def test_what_is_no_call_is_not_answered_with_silence():
    bench = Bench()
    bench.ask(m.GetVersionRequest())
    assert bench.the(Reply).answer.code is Code.UNIMPLEMENTED


def test_a_repeated_call_waits_for_the_run_that_there_is():
    bench = Bench()
    session = bench.session()
    first = bench.ask(m.CallRequest("f", (X,), session, 1))
    second = bench.ask(m.CallRequest("f", (X,), session, 1))
    assert bench.words == []
    assert bench.tell(Executed(1, (answer(Y),))) == [Reply(first, answer(Y)), Reply(second, answer(Y))]
    third = bench.ask(m.CallRequest("f", (X,), session, 1))
    assert bench.words == [Reply(third, answer(Y))]


def test_a_call_without_a_session_is_not_remembered():
    bench = Bench()
    bench.ask(m.CallRequest("f", (X,)))
    bench.ask(m.CallRequest("f", (X,)))
    assert bench.the(Execute).run == 2


def test_a_call_that_its_caller_has_done_with_does_not_begin():
    bench = Bench()
    session = bench.session()
    bench.ask(m.CallRequest("f", (X,), session, 2, floor=2))
    bench.ask(m.CallRequest("f", (X,), session, 1))
    assert bench.the(Reply).answer.refusal is m.Refusal.FORGOTTEN


def test_a_session_of_another_life_is_refused():
    bench = Bench()
    bench.ask(m.CallRequest("f", (X,), session=77, seq=1))
    assert bench.the(Reply).answer.refusal is m.Refusal.SESSION


def test_answers_are_kept_up_to_a_number_and_what_is_forgotten_does_not_run_again():
    bench = Bench(answers_max=2)
    session = bench.session()
    for seq in (1, 2, 3, 4):
        bench.ask(m.CallRequest("f", (X,), session, seq))
        bench.tell(Executed(seq, (answer(Y),)))
    bench.ask(m.CallRequest("f", (X,), session, 1))
    assert bench.the(Reply).answer.refusal is m.Refusal.FORGOTTEN
    bench.ask(m.CallRequest("f", (X,), session, 4))
    assert bench.the(Reply).answer == answer(Y)


def test_answers_are_kept_up_to_so_many_bytes():
    bench = Bench(answer_bytes_max=100)
    session = bench.session()
    for seq in (1, 2):
        bench.ask(m.CallRequest("f", (X,), session, seq))
        bench.tell(Executed(seq, (answer(b"y" * 60),)))
    bench.ask(m.CallRequest("f", (X,), session, 1))
    assert bench.the(Reply).answer.refusal is m.Refusal.FORGOTTEN


def test_a_refusal_for_want_of_room_is_final_for_the_call():
    bench = Bench(method("f", running_max=1, waiting_max=1))
    session = bench.session()
    bench.ask(m.CallRequest("f", (X,), session, 1))
    waiting = bench.ask(m.CallRequest("f", (Y,), session, 2))
    assert bench.words == []
    bench.ask(m.CallRequest("f", (X,), session, 3))
    refused = bench.the(Reply).answer
    assert refused.code is Code.RESOURCE_EXHAUSTED
    assert "1 runs under way and 1 calls waiting" in refused.message
    bench.tell(Executed(1, (answer(X),)))
    assert bench.the(Execute) == Execute(2, "f", ((Y,),))
    assert bench.tell(Executed(2, (answer(Y),))) == [Reply(waiting, answer(Y))]
    bench.ask(m.CallRequest("f", (X,), session, 3))
    assert bench.the(Reply).answer == refused


def test_a_full_batch_runs_at_once_and_a_lonely_call_after_its_wait():
    bench = Bench(method("f", batch_max=2, wait_ns=10 * MS))
    one, two = bench.ask(m.CallRequest("f", (X,))), bench.ask(m.CallRequest("f", (Y,)))
    assert bench.words == [Execute(1, "f", ((X,), (Y,)))]
    failed = RpcError(Code.INVALID_ARGUMENT, "no")
    assert bench.tell(Executed(1, (answer(X), failed))) == [Reply(one, answer(X)), Reply(two, failed)]
    bench.ask(m.CallRequest("f", (X,)))
    assert bench.words == []
    assert bench.server.deadline() == bench.now + 10 * MS
    assert bench.tell(Woke(), 10 * MS) == [Execute(2, "f", ((X,),))]
    bench.tell(Executed(2, (answer(X),)))
    assert bench.server.deadline() == NEVER


def test_a_call_whose_caller_has_given_up_does_not_begin():
    bench = Bench(method("f", running_max=1))
    session = bench.session()
    bench.ask(m.CallRequest("f", (X,), session, 1))
    late = bench.ask(m.CallRequest("f", (X,), session, 2, timeout_ns=5 * MS))
    bench.tell(Executed(1, (answer(X),)), 6 * MS)
    assert [word for word in bench.words if isinstance(word, Execute)] == []
    (given,) = (w.answer for w in bench.words if isinstance(w, Reply) and w.call == late)
    assert given.code is Code.DEADLINE_EXCEEDED


@pytest.mark.parametrize("overtaken", [False, True])
def test_a_cancelled_call_does_not_begin(overtaken):
    bench = Bench(method("f", running_max=1))
    session = bench.session()
    bench.ask(m.CallRequest("f", (X,), session, 1))
    if not overtaken:
        bench.ask(m.CallRequest("f", (Y,), session, 2))
    bench.ask(m.CancelCallRequest(session, 2))
    bench.ask(m.CallRequest("f", (Y,), session, 2))
    assert bench.the(Reply).answer.code is Code.CANCELLED
    bench.tell(Executed(1, (answer(X),)))
    assert not any(isinstance(word, Execute) for word in bench.words)


def test_the_end_of_a_session_gives_up_what_waits_in_it():
    bench = Bench(method("f", running_max=1))
    session = bench.session()
    bench.ask(m.CallRequest("f", (X,), session, 1))
    bench.ask(m.CallRequest("f", (Y,), session, 2))
    bench.ask(m.EndSessionRequest(session))
    bench.tell(Executed(1, (answer(X),)))
    assert bench.words == []
    assert bench.server.view().sessions == 0


def test_an_idle_session_is_forgotten_but_not_one_whose_call_runs():
    bench = Bench(idle_ns=10 * MS)
    idle, busy = bench.session(), bench.session()
    bench.ask(m.CallRequest("f", (X,), busy, 1))
    bench.tell(Woke(), 30 * MS)
    assert bench.server.view().sessions == 1
    bench.ask(m.CallRequest("f", (X,), idle, 1))
    assert bench.the(Reply).answer.refusal is m.Refusal.SESSION
    bench.ask(m.CallRequest("f", (X,), busy, 2))
    assert isinstance(bench.the(Execute), Execute)


class Streaming(Bench):
    """A bench with one stream that is open."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(method("s", streams=True, running_max=1), **settings)
        self.number = self.session()
        self.ask(m.CallRequest("s", (X,), self.number, 1))

    def fetch(self, ordinal: int, bytes_max: int = 100) -> CallId:
        return self.ask(m.FetchItemsRequest(self.number, 1, ordinal, bytes_max))


def items(*values: int) -> tuple[m.CallResponse, ...]:
    return tuple(answer(b"%d" % value) for value in values)


def test_a_stream_is_made_ahead_and_given_from_where_its_reader_is():
    bench = Streaming(ahead_items=4)
    assert [type(word) for word in bench.words] == [Reply, Pull]
    assert bench.the(Pull).inputs == (X,)
    for item in items(0, 1, 2):
        bench.tell(Pulled(1, item))
        assert bench.the(Pull).inputs is None
    bench.fetch(0)
    assert bench.the(Reply).answer == m.FetchItemsResponse(items(0, 1, 2))
    bench.fetch(0)
    assert bench.the(Reply).answer == m.FetchItemsResponse(items(0, 1, 2)), "a repeated read gets the same"
    bench.tell(Pulled(1, *items(3)))
    bench.tell(Pulled(1, None))
    bench.fetch(2)
    assert bench.the(Reply).answer == m.FetchItemsResponse(items(2, 3), ended=True)
    bench.fetch(1)
    assert bench.the(Reply).answer.refusal is m.Refusal.FORGOTTEN


def test_a_read_waits_for_items_and_is_answered_empty_after_a_while():
    bench = Streaming(hold_ns=10 * MS)
    call = bench.fetch(0)
    assert bench.words == []
    assert bench.tell(Woke(), 10 * MS) == [Reply(call, m.FetchItemsResponse())]
    call = bench.fetch(0)
    bench.tell(Pulled(1, *items(0)))
    assert Reply(call, m.FetchItemsResponse(items(0))) in bench.words


def test_an_error_of_a_stream_comes_behind_its_items():
    bench = Streaming()
    error = RpcError(Code.INTERNAL, "no")
    bench.tell(Pulled(1, *items(0)))
    bench.tell(Pulled(1, error))
    bench.fetch(0)
    assert bench.the(Reply).answer == m.FetchItemsResponse(items(0))
    bench.fetch(1)
    assert bench.the(Reply).answer == error


def test_a_cancelled_stream_is_abandoned_and_leaves_room_for_the_next():
    bench = Streaming()
    bench.ask(m.CallRequest("s", (Y,), bench.number, 2))
    assert bench.words == []
    bench.ask(m.CancelCallRequest(bench.number, 1))
    assert Abandon(1) in bench.words
    assert bench.the(Pull).inputs == (Y,)
    bench.fetch(0)
    assert bench.the(Reply).answer.code is Code.CANCELLED


def test_a_client_that_cannot_stream_is_told_so():
    bench = Bench(method("s", streams=True))
    bench.ask(m.CallRequest("s", (X,)))
    assert bench.the(Reply).answer.code is Code.UNIMPLEMENTED


def test_a_server_that_ends_lets_calls_end_and_begins_no_more():
    bench = Bench()
    session = bench.session()
    call = bench.ask(m.CallRequest("f", (X,)))
    assert bench.tell(Stopped(9)) == []
    bench.ask(m.CallRequest("f", (X,), session, 1))
    assert bench.the(Reply).answer.refusal is m.Refusal.STOPPING
    bench.ask(m.CallRequest("f", (X,)))
    assert bench.the(Reply).answer.code is Code.UNAVAILABLE
    assert bench.tell(Executed(1, (answer(Y),))) == [Reply(call, answer(Y)), Finish(9, None)]
