"""The two servers: every order of calls is defined, and ports are free again."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfsvc as tf

service = tf.data.experimental.service
PRECONDITION = tf.errors.FailedPreconditionError


def _make(kind: str, start: bool) -> Any:
    if kind == "dispatcher":
        return service.DispatchServer(service.DispatcherConfig(own_process=False), start=start)
    return service.WorkerServer(service.WorkerConfig("localhost:1"), start=start)


def _play(kind: str, start: bool, calls: Sequence[str]) -> int | None:
    """Makes the calls, holds each against the rules, and drops the server; the port, if it had one."""
    server = _make(kind, start)
    started, stopped = start, False
    for call in calls:
        match call:
            case "start" if stopped:
                with pytest.raises(PRECONDITION, match="make a new one"):
                    server.start()
            case "start":
                server.start()
                started = True
            case "join" if not started and not stopped:
                with pytest.raises(PRECONDITION, match="not started"):
                    server.join(0)
            case "join":
                assert server.join(0) == stopped
            case "stop":
                server.stop()
                stopped = True
            case "with":
                with server as entered:
                    assert entered is server
                started, stopped = started or not stopped, True
    return server._server.port if server._server is not None else None


@given(
    st.sampled_from(["dispatcher", "worker"]),
    st.booleans(),
    st.lists(st.sampled_from(["start", "join", "stop", "with"]), max_size=5),
)
@settings(max_examples=120)
def test_any_order_of_calls_is_defined_and_frees_the_port(kind: str, start: bool, calls: list[str]) -> None:
    port = _play(kind, start, calls)
    if port is not None:
        with socket.socket() as taker:
            taker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taker.bind(("localhost", port))


def test_a_server_may_be_replaced_at_its_port_at_once() -> None:
    first = service.DispatchServer()
    port = int(first.target.rsplit(":", 1)[1])
    first.stop()
    for _ in range(50):
        with service.DispatchServer(service.DispatcherConfig(port=port, own_process=False)) as server:
            assert server.target == f"grpc://localhost:{port}"


@pytest.mark.parametrize("own_process", [False, True])
def test_a_port_that_is_taken_is_named(own_process: bool) -> None:
    with service.DispatchServer() as holder:
        port = int(holder.target.rsplit(":", 1)[1])
        with pytest.raises(tf.errors.UnavailableError, match=str(port)):
            service.DispatchServer(service.DispatcherConfig(port=port, own_process=own_process))
        with pytest.raises(tf.errors.UnavailableError, match=str(port)):
            service.WorkerServer(service.WorkerConfig(holder.target, port=port))


def test_a_worker_may_be_first_and_last() -> None:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        port = found.getsockname()[1]
    worker = service.WorkerServer(service.WorkerConfig(f"localhost:{port}"))
    with service.DispatchServer(service.DispatcherConfig(port=port)) as dispatcher:
        dataset = tf.data.Dataset.range(5).apply(service.distribute("distributed_epoch", dispatcher.target))
        assert sorted(int(value) for value in dataset) == list(range(5))
    worker.stop()


def test_workers_that_stop_at_once_are_not_counted() -> None:
    with service.DispatchServer() as dispatcher:
        for _ in range(20):
            service.WorkerServer(service.WorkerConfig(dispatcher.target)).stop()
        assert dispatcher.num_workers() == 0
