"""Reads over gRPC: answers in one message and in several, between peers that know of it and those that do not."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from functools import partial
from typing import Any

import grpc
import pytest

from tests import soon
from tests.sharing import buffers
from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.ids import SECOND, Address
from tfsvc.protocol.messages import GetFramesRequest, GetFramesResponse
from tfsvc.wire.messages import METHODS, decode, encode
from tfsvc.wire.parts import encode_in_parts
from tfsvc_transports.grpc import options, reads
from tfsvc_transports.grpc import server as serving
from tfsvc_transports.grpc.transport import GrpcTransport
from tfsvc_transports.transport import Answer

until = partial(soon.until, seconds=20, every=0.005)
READ = METHODS[GetFramesRequest].path
MEBIBYTE = 1 << 20


class Pair:
    """A worker whose frame is as large as the ordinal that is asked for says, and a reader; 0 is never answered."""

    def __init__(self, shares_memory: bool) -> None:
        self.shares_memory = shares_memory
        self.asked = threading.Event()
        self.server, self.client = (
            GrpcTransport(shares_memory=shares_memory),
            GrpcTransport(shares_memory=shares_memory),
        )
        self.address = Address(f"localhost:{self.server.serve('localhost', 0, self._give)}")
        self.cancelled = threading.Event()

    def begin(self, size: int) -> list[Any]:
        found: list[Any] = []
        self.client.call(self.address, GetFramesRequest(ordinal=size, bytes_max=1), 20 * SECOND, found.append)
        return found

    def read(self, size: int) -> Any:
        found = self.begin(size)
        until(lambda: bool(found))
        return found[0]

    def close(self) -> None:
        self.client.close()
        self.server.close()

    def _give(self, peer: Address, request: Any, answer: Answer) -> Callable[[], None]:
        if request.ordinal:
            answer(answer_of(request.ordinal))
        else:
            self.asked.set()
        return self.cancelled.set


def answer_of(size: int) -> GetFramesResponse:
    return GetFramesResponse((Frame(0, 1, b"7" * size),))


@pytest.fixture(params=[True, False], ids=["shared memory", "messages"])
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    made = Pair(request.param)
    yield made
    made.close()


def test_answers_of_any_size_arrive(pair: Pair) -> None:
    for size in (1, 70_000, MEBIBYTE, 5 * MEBIBYTE + 3):
        assert pair.read(size) == answer_of(size)


def test_an_answer_may_be_larger_than_any_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "ANSWER_BYTES_MAX", 2 * MEBIBYTE)
    monkeypatch.setattr(
        options,
        "CHANNEL",
        tuple((key, 2 * MEBIBYTE if "max_receive_message" in key else value) for key, value in options.CHANNEL),
    )
    monkeypatch.setattr("tfsvc.wire.streams.MESSAGE_BYTES_MAX", 2 * MEBIBYTE)
    monkeypatch.setattr("tfsvc_transports.grpc.credentials.CHANNEL", options.CHANNEL)
    pair = Pair(shares_memory=False)
    refused = pair.read(9 * MEBIBYTE)
    assert (refused.code, refused.outcome) == (Code.UNAVAILABLE, Outcome.UNKNOWN)  # so the reader asks again
    assert pair.read(9 * MEBIBYTE) == answer_of(9 * MEBIBYTE)
    pair.close()
    monkeypatch.setattr(serving, "PARTED_MAX", 0)
    pair = Pair(shares_memory=False)
    assert pair.read(9 * MEBIBYTE).code is Code.UNAVAILABLE
    assert pair.read(9 * MEBIBYTE).code is Code.RESOURCE_EXHAUSTED
    pair.close()


def ask_plainly(pair: Pair, size: int, *headers: tuple[str, str]) -> list[bytes]:
    """The messages that a peer gets."""
    with grpc.insecure_channel(pair.address, options=[("grpc.max_receive_message_length", -1)]) as channel:
        call = channel.unary_stream(READ, None, None)
        return list(call(encode(GetFramesRequest(ordinal=size, bytes_max=1)), metadata=headers, timeout=20))


def test_a_peer_that_does_not_ask_for_parts_gets_one_message(pair: Pair) -> None:
    (message,) = ask_plainly(pair, 5 * MEBIBYTE)
    assert decode(GetFramesResponse, message) == answer_of(5 * MEBIBYTE)
    assert len(ask_plainly(pair, 5 * MEBIBYTE, (options.PARTS, "1"))) == 6


@pytest.mark.parametrize("shares_memory", [True, False])
def test_only_so_many_answers_leave_in_parts(shares_memory: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread waits for the reader of each, who may be in no hurry."""
    monkeypatch.setattr(serving, "PARTED_MAX", 0)
    pair = Pair(shares_memory)
    assert len(ask_plainly(pair, 5 * MEBIBYTE, (options.PARTS, "1"))) == 1
    pair.close()


def test_only_so_many_reads_have_a_thread(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reads, "READS_MAX", 2)
    monkeypatch.setattr(reads, "_reads", reads._Reads())
    pair.read(5 * MEBIBYTE)
    held = [pair.begin(0) for _ in range(3)]
    assert pair.read(5 * MEBIBYTE) == answer_of(5 * MEBIBYTE)
    pair.client.close()
    until(lambda: all(held))
    assert {error.code for (error,) in held} == {Code.CANCELLED}


def test_a_read_that_is_held_ends_with_either_side(pair: Pair) -> None:
    held = pair.begin(0)
    pair.server.close()
    until(lambda: bool(held))
    assert isinstance(held[0], RpcError)
    assert held[0].code is Code.UNAVAILABLE


def test_a_fork_takes_the_reads_under_way_back(pair: Pair) -> None:
    pair.read(5 * MEBIBYTE)
    held = pair.begin(0)
    assert pair.asked.wait(20)
    # What goes through memory has no pieces to be taken by a thread.
    assert places_taken() == (0 if pair.shares_memory else 1)
    child = os.fork()
    if not child:
        os._exit(places_taken())
    assert os.waitpid(child, 0)[1] == 0
    until(lambda: bool(held))
    assert held[0].code is Code.CANCELLED
    assert pair.read(MEBIBYTE) == answer_of(MEBIBYTE)


def places_taken() -> int:
    return reads.READS_MAX - reads._reads.places._value


def answered_with(messages: list[bytes]) -> Any:
    """What a read brings that is answered with these messages."""

    class Worker(grpc.GenericRpcHandler):  # type: ignore[misc, type-arg]
        def service(self, details: Any) -> Any:
            return grpc.unary_stream_rpc_method_handler(lambda data, context: iter(messages))

    server = grpc.server(futures.ThreadPoolExecutor(2), handlers=[Worker()])
    port = server.add_insecure_port("localhost:0")
    server.start()
    client, found = GrpcTransport(shares_memory=False), []
    client._bulky.add(Address(f"localhost:{port}"))
    client.call(Address(f"localhost:{port}"), GetFramesRequest(bytes_max=1), 20 * SECOND, found.append)
    until(lambda: bool(found))
    client.close()
    server.stop(None)
    return found[0]


def test_an_answer_that_breaks_off_or_lies_is_an_error() -> None:
    head, piece = encode_in_parts(answer_of(MEBIBYTE))
    assert answered_with([head, piece]) == answer_of(MEBIBYTE)
    for messages in ([], [head], [head, piece[:-1]], [head, piece, b"more"], [b"\xff"]):
        assert answered_with(messages).code is Code.DATA_LOSS


def test_a_read_that_failed_lets_go_of_the_memory_that_was_offered() -> None:
    pair = Pair(shares_memory=True)
    pair.read(5 * MEBIBYTE)
    gc.disable()
    try:
        held = pair.begin(0)
        pair.close()
        until(lambda: bool(held))
        until(lambda: not buffers())
    finally:
        gc.enable()
