"""gRPC's part: how answers are sent, and the thread of a channel between calls."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from dataclasses import replace
from functools import partial
from typing import Any

import grpc
import pytest

from tests import soon
from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol.ids import SECOND, Address
from tfsvc.protocol.messages import (
    CallRequest,
    CallResponse,
    Request,
    WorkerHeartbeatRequest,
    WorkerHeartbeatResponse,
)
from tfsvc.wire.messages import METHODS
from tfsvc_transports.grpc import threadless
from tfsvc_transports.grpc.transport import GrpcTransport
from tfsvc_transports.transport import Answer

until = partial(soon.until, seconds=10, every=0.005)


class Pair:
    """A server that gives back what it is asked with, and a client."""

    def __init__(self) -> None:
        self.server, self.client = GrpcTransport(), GrpcTransport()
        self.handled_by: list[str] = []
        self.address = Address(f"localhost:{self.server.serve('localhost', 0, self._echo)}")

    def ask(self, data: bytes = b"x", peer: Address | None = None) -> Any:
        return self.ask_for(CallRequest("f", (data,)), peer)

    def ask_for(self, request: Request, peer: Address | None = None) -> Any:
        found: list[Any] = []
        self.client.call(self.address if peer is None else peer, request, 10 * SECOND, found.append)
        until(lambda: bool(found))
        return found[0]

    def close(self) -> None:
        self.client.close()
        self.server.close()

    def _echo(self, peer: Address, request: Any, answer: Answer) -> Callable[[], None]:
        self.handled_by.append(threading.current_thread().name)
        match request:
            case CallRequest("f", (data,)):
                answer(CallResponse((data,)) if data else RpcError(Code.NOT_FOUND, "nothing to give back"))
            case WorkerHeartbeatRequest("w:1"):
                answer(WorkerHeartbeatResponse())
            case _:
                raise ValueError("a handler that fails")
        return lambda: None


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair()
    yield made
    made.close()


@pytest.mark.parametrize("lacking", [(), ("_SERVER",), ("_RECEIVER",), ("_SERVER", "_RECEIVER")])
def test_answers_small_and_large_and_errors_arrive(monkeypatch, lacking):
    for name in ("_SERVER", "_RECEIVER"):
        assert getattr(threadless, name) is not None, "this version of gRPC lacks it: calls are slower than need be"
    for name in lacking:
        monkeypatch.setattr(threadless, name, None)
    pair = Pair()
    for size in (1, 5_000, 5 << 20):
        assert bytes(pair.ask(bytes(size)).output_tensors[0]) == bytes(size)
    assert pair.ask(b"") == RpcError(Code.NOT_FOUND, "nothing to give back")
    with grpc.insecure_channel(pair.address) as channel:
        call = channel.stream_stream(METHODS[CallRequest].path, None, None)(iter(()))
        assert call.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert call.details() == "the call has no message"
    pair.close()


@pytest.mark.parametrize("lacking", [(), ("_SERVER", "_RECEIVER")])
def test_a_call_that_is_brief_is_handled_on_the_thread_of_the_server_and_others_never(monkeypatch, lacking):
    for name in lacking:
        monkeypatch.setattr(threadless, name, None)
    pair, brief = Pair(), WorkerHeartbeatRequest("w:1")
    assert pair.ask(b"said") == CallResponse((b"said",))
    assert pair.ask_for(brief) == WorkerHeartbeatResponse()
    assert pair.ask_for(replace(brief, current_tasks=tuple(range(10_000)))) == WorkerHeartbeatResponse()
    other, own, large = pair.handled_by
    assert other.startswith("tfsvc-grpc")
    assert own.startswith("tfsvc-grpc") == bool(lacking)
    assert large.startswith("tfsvc-grpc")
    pair.close()


@pytest.mark.parametrize("request_", [WorkerHeartbeatRequest("fails"), CallRequest("fails", ())])
def test_a_handler_that_fails_ends_its_call_alone(caplog, request_):
    pair = Pair()
    assert isinstance(pair.ask_for(request_), RpcError)
    assert "a call could not be taken in" in caplog.text
    assert pair.ask_for(WorkerHeartbeatRequest("w:1")) == WorkerHeartbeatResponse()
    pair.close()


def spinning() -> set[int]:
    """The threads of channels."""
    return {ident for ident, frame in sys._current_frames().items() if "channel_spin" in functions(frame)}


def functions(frame: Any) -> Iterator[str]:
    while frame is not None:
        yield frame.f_code.co_name
        frame = frame.f_back


def test_a_channel_keeps_its_thread_between_calls_and_ends_it_when_it_is_closed(pair):
    before = spinning()
    pair.ask()
    time.sleep(0.1)
    kept = spinning() - before
    assert len(kept) == 1
    for _ in range(5):
        pair.ask()
        time.sleep(0.02)
        assert spinning() - before == kept
    pair.client.close()
    until(lambda: not spinning() - before)


def test_a_peer_that_knows_of_no_held_calls_is_asked_once(pair):
    """TensorFlow's servers are such."""
    asked: list[str] = []

    class Stranger(grpc.GenericRpcHandler):  # type: ignore[misc, type-arg]
        def service(self, details: Any) -> Any:
            asked.append(details.method)
            if not details.method.endswith("/Call"):
                return None
            return grpc.unary_unary_rpc_method_handler(lambda data, context: b"")

    stranger = grpc.server(futures.ThreadPoolExecutor(2), handlers=[Stranger()])
    port = stranger.add_insecure_port("localhost:0")
    stranger.start()
    for _ in range(4):
        assert pair.ask(peer=Address(f"localhost:{port}")) == CallResponse()
        time.sleep(0.05)
    stranger.stop(None)
    assert [method.rpartition("/")[2] for method in asked].count("Hold") == 1


@pytest.mark.parametrize("address", ["", "\0", "ipv4:1", "a b", "x:999999"])
def test_what_is_no_address_is_a_peer_that_is_not_reached(pair, address):
    """Peers tell each other's addresses; a strange one must not fail more than the calls to it."""
    error = pair.ask(peer=Address(address))
    assert (error.code, error.outcome) == (Code.UNAVAILABLE, Outcome.UNREACHED)
