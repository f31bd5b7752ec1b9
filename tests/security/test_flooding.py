"""Too much, too large, too slow: refused or cut off, and others are served meanwhile."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from dataclasses import replace
from functools import partial
from typing import Any

import grpc
import pytest

import tfsvc as tf
from tests import soon
from tests.security.conftest import PROBES, Servers, raw_status, rpc, service_of
from tfsvc.protocol import messages as m
from tfsvc.service.security import Limits, Security
from tfsvc.wire.messages import METHODS
from tfsvc_transports.grpc import intake

until = partial(soon.until, seconds=20, every=0.02)


def limited(keys: dict[str, Security], **limits: int) -> Security:
    return replace(keys["none"], limits=Limits(**limits))


def test_a_request_may_be_so_large_and_no_larger(keys: dict[str, Security], serve: Any) -> None:
    servers: Servers = serve(limited(keys, request_bytes=1 << 20))
    request = m.CallRequest("count", (bytes(2 << 20),))
    for address in servers.addresses.values():
        assert raw_status(address, request) is grpc.StatusCode.RESOURCE_EXHAUSTED
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"Limits\.request_bytes"):
        service_of(servers.addresses["rpc"], keys["none"]).ask(request, 10**9)
    servers.still_serve()


def test_what_holds_only_numbers_may_not_be_large(
    keys: dict[str, Security], serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "SMALL_BYTES_MAX", 10_000)
    servers: Servers = serve(keys["none"])
    many = m.WorkerHeartbeatRequest("w:1", current_tasks=tuple(range(10_000)))
    assert raw_status(servers.addresses["dispatcher"], many) is grpc.StatusCode.RESOURCE_EXHAUSTED
    dataset = m.GetOrRegisterDatasetRequest(m.DatasetDef(program=bytes(20_000)), m.DataServiceMetadata(), "d")
    assert raw_status(servers.addresses["dispatcher"], dataset) is grpc.StatusCode.OK


def test_headers_are_short(keys: dict[str, Security], serve: Any) -> None:
    servers: Servers = serve(keys["none"])
    long = (("x", "y" * (1 << 20)),)
    for kind, address in servers.addresses.items():
        assert raw_status(address, PROBES[kind], long) is not grpc.StatusCode.OK
    servers.still_serve()


def test_one_machine_calls_so_often_and_no_more(keys: dict[str, Security], serve: Any) -> None:
    servers: Servers = serve(limited(keys, calls_per_second=20))
    time.sleep(1)
    path = METHODS[m.ListRequest].path
    with grpc.insecure_channel(servers.addresses["rpc"]) as channel:
        calls = [channel.unary_unary(path, None, None).future(b"") for _ in range(60)]
        codes = [call.code() for call in calls]
        (refused,) = {call.details() for call in calls if call.code() is not grpc.StatusCode.OK}
    assert set(codes) == {grpc.StatusCode.OK, grpc.StatusCode.RESOURCE_EXHAUSTED}
    assert 20 <= codes.count(grpc.StatusCode.OK) <= 40
    assert "20 calls came within a second" in refused
    assert "Call again later" in refused
    # Nodes of ours wait and call again.
    with rpc.Client.create("grpc", servers.addresses["rpc"], security=keys["none"]) as client:
        assert [int(client.count_blocking(x)) for x in range(30)] == list(range(30))


def begin(channel: grpc.Channel, path: str) -> Any:
    """Begins a call whose message never comes."""
    return channel.stream_stream(path, None, None)(iter(threading.Event().wait, None))


def test_calls_whose_messages_never_come_hold_up_nobody(keys: dict[str, Security], serve: Any) -> None:
    servers: Servers = serve(limited(keys, message_s=3))
    address = servers.addresses["rpc"].replace("localhost", "127.0.0.1")
    path = METHODS[m.CallRequest].path
    with grpc.insecure_channel(address) as channel:
        calls = [begin(channel, path) for _ in range(2 * intake.WAITS_MAX)]
        until(lambda: raw_status(address, m.ListRequest()) is grpc.StatusCode.RESOURCE_EXHAUSTED, seconds=3)
        serving = [thread for thread in threading.enumerate() if thread.name.startswith("tfsvc-grpc")]
        assert len(serving) < 2 * intake.WAITS_MAX, "most of a server's 512 threads are there for other machines"
        # Those that were late are ended, and the machine is served again.
        until(lambda: raw_status(address, m.ListRequest()) is grpc.StatusCode.OK)
        codes = [call.code() for call in calls]
        assert codes.count(grpc.StatusCode.CANCELLED) == intake.WAITS_MAX
        assert codes.count(grpc.StatusCode.RESOURCE_EXHAUSTED) == intake.WAITS_MAX
    servers.still_serve()


def test_a_call_that_is_held_takes_no_thread_even_if_its_message_never_comes(
    keys: dict[str, Security], serve: Any
) -> None:
    servers: Servers = serve(keys["none"])
    address = servers.addresses["cluster"].replace("localhost", "127.0.0.1")
    with grpc.insecure_channel(address) as channel:
        calls = [begin(channel, "/tfsvc.ChannelService/Hold") for _ in range(4 * intake.WAITS_MAX)]
        assert raw_status(address, PROBES["cluster"]) is grpc.StatusCode.OK
        assert len([thread for thread in threading.enumerate() if "tfsvc-grpc" in thread.name]) < intake.WAITS_MAX
        assert not any(call.done() for call in calls)


@pytest.mark.parametrize("guard", ["none", "both"])
def test_connections_that_say_nothing_are_closed(guard: str, keys: dict[str, Security], serve: Any) -> None:
    servers: Servers = serve(replace(keys[guard], limits=Limits(handshake_s=1)))
    for address in servers.addresses.values():
        host, _, port = address.rpartition(":")
        with socket.create_connection((host, int(port))) as silent:
            silent.settimeout(20)
            while silent.recv(1000):
                pass  # it greets, and hangs up
    servers.still_serve()


def test_so_many_connections_and_no_more(keys: dict[str, Security], serve: Any) -> None:
    servers: Servers = serve(limited(keys, connections=8, handshake_s=2))
    host, _, port = servers.addresses["dispatcher"].rpartition(":")
    silent = [socket.create_connection((host, int(port))) for _ in range(20)]
    answered = []
    for connection in silent:
        connection.settimeout(1)
        try:
            answered.append(bool(connection.recv(1000)))
        except (TimeoutError, OSError):
            answered.append(False)
    assert sum(answered) <= 8
    for connection in silent:
        connection.close()
    until(lambda: raw_status(servers.addresses["dispatcher"], PROBES["dispatcher"]) is grpc.StatusCode.OK)
    servers.still_serve()


SAID = (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01" + bytes(100), b"PRI * HTTP/2.0\r\n", bytes(5000))


@pytest.mark.parametrize("said", SAID, ids=["http", "tls", "http2", "zeros"])
@pytest.mark.parametrize("guard", ["none", "both"])
def test_what_is_no_grpc_is_hung_up_on(said: bytes, guard: str, keys: dict[str, Security], serve: Any) -> None:
    servers: Servers = serve(replace(keys[guard], limits=Limits(handshake_s=2)))
    for address in servers.addresses.values():
        host, _, port = address.rpartition(":")
        with socket.create_connection((host, int(port))) as stranger:
            stranger.settimeout(20)
            stranger.sendall(said)
            try:
                while stranger.recv(1000):
                    pass
            except ConnectionResetError:
                pass
    servers.still_serve()


def test_an_old_version_of_tls_is_not_spoken(keys: dict[str, Security], serve: Any) -> None:
    servers: Servers = serve(keys["mutual"])
    host, _, port = servers.addresses["dispatcher"].rpartition(":")
    context = ssl.create_default_context(cafile=keys["mutual"].ca_file)
    with pytest.warns(DeprecationWarning, match="TLSv1"):
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with socket.create_connection((host, int(port))) as plain, pytest.raises(OSError):
        context.wrap_socket(plain, server_hostname="localhost")
