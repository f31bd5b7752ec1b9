"""A reader that cannot read says so each time it is asked."""

from __future__ import annotations

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.client.caller import Caller
from tfsvc.protocol.client.machine import Client
from tfsvc.protocol.client.request import ReadRequest
from tfsvc.protocol.contract import Call, Event, Failed, Finish, Note, Role, Stopped, Wanted, Woke
from tfsvc.protocol.ids import NEVER, SECOND, Incarnation
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import GetWorkersRequest, ShardingPolicy
from tfsvc.protocol.settings import ClientSettings

REFUSED = RpcError(Code.NOT_FOUND, "no such dataset")


def client() -> Client:
    request = ReadRequest("data", ShardingPolicy.DYNAMIC)
    return Client(request, ClientSettings("dispatcher"), "reader", Incarnation(1), Luck(1, "reader"))


def test_a_job_that_is_refused_before_anybody_waits() -> None:
    machine = client()
    (call,) = machine.handle(Woke(), 1).words
    assert isinstance(call, Call)
    assert machine.handle(Failed(call.call, REFUSED), 2).words == ()
    for token in (1, 2):
        assert machine.handle(Wanted(token, ()), 3).words == (Finish(token, REFUSED),)


def test_a_reader_that_was_closed() -> None:
    machine = client()
    machine.handle(Stopped(1), 1)
    (finish,) = machine.handle(Wanted(2, ()), 2).words
    assert isinstance(finish, Finish)
    assert isinstance(finish.result, RpcError)
    assert finish.result.code is Code.CANCELLED


def fail_until_it_gives_up(machine: Role, first: Event) -> tuple[list[tuple[int, str]], list[Finish]]:
    """Answers every call with "connection refused"; when people were told what, and what came of it."""
    notes: list[tuple[int, str]] = []
    ends: list[Finish] = []
    now, event = 0, first
    while not ends and now != NEVER:
        words = list(machine.handle(event, now).words)
        while words:
            match words.pop(0):
                case Call(call):
                    words += machine.handle(Failed(call, RpcError(Code.UNAVAILABLE, "connection refused")), now).words
                case Note(text=text):
                    notes.append((now, text))
                case Finish() as end:
                    ends.append(end)
        now, event = machine.deadline(), Woke()
    return notes, ends


def test_a_dispatcher_that_is_not_there_is_waited_for_aloud_and_not_for_ever() -> None:
    caller = Caller("caller", 1, Luck(1, "caller"), "dispatcher", GetWorkersRequest(), SECOND, 3600 * SECOND)
    for machine, first in ((client(), Wanted(1, ())), (caller, Woke())):
        notes, (end,) = fail_until_it_gives_up(machine, first)
        assert 2 * SECOND <= notes[0][0] <= 4 * SECOND
        assert 3600 * SECOND <= notes[-1][0] + 2 * SECOND <= 3603 * SECOND
        assert all("connection refused" in text for _, text in notes)
        assert isinstance(end.result, RpcError)
        assert end.result.code is Code.UNAVAILABLE
        assert "dispatcher" in end.result.message
