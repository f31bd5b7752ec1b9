"""A reader that cannot read says so each time it is asked."""

from __future__ import annotations

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.client.machine import Client, ReadRequest
from tfsvc.protocol.contract import Call, Failed, Finish, Stopped, Wanted, Woke
from tfsvc.protocol.ids import Incarnation
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import ShardingPolicy
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
