"""Remote calls on gRPC: what ours offers beyond TensorFlow's."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tfsvc as tf
from tests.e2e.rpc_servers import INT, MS, Gate, connect, function, rpc, until, waiting


def test_a_server_starts_once_and_stops_for_good(server):
    server.register("f", function(lambda x: x))
    assert server.port == 0
    client = connect(server)
    server.start()
    assert server.address == f"localhost:{server.port}"
    assert client.f_blocking(1) == 1
    other = rpc.Server.create("grpc", server.address)
    with pytest.raises(tf.errors.UnavailableError, match="cannot serve"):
        other.start()
    server.stop()
    with pytest.raises(tf.errors.FailedPreconditionError):
        server.start()
    with pytest.raises(tf.errors.DeadlineExceededError):
        client.f_blocking(1, timeout_in_ms=100)


def test_a_stopping_server_lets_calls_end(server):
    gate = Gate()
    server.register("wait", function(gate), output_specs=INT)
    client = connect(server)
    result = client.wait(5)
    gate.begun.acquire()
    threading.Timer(0.2, gate.open.set).start()
    server.stop()
    assert result.get_value() == 5


def test_a_waiting_call_finds_a_server_that_starts_later(server):
    server.register("f", function(lambda x: x + x))
    server.start()
    address = server.address
    client = rpc.Client.create("grpc", address, timeout_in_ms=MS)
    server.stop()
    result = client.f(4)
    again = rpc.Server.create("grpc", address)
    again.register("f", function(lambda x: x + x))
    again.start()
    assert result.get_value() == 8
    again.stop()


def test_many_calls_are_few_runs_and_a_poisoned_one_fails_alone(server):
    sizes = []

    def double(x):
        sizes.append(len(x))
        if np.any(x == 13):
            raise ValueError("unlucky")
        return x * 2

    server.register("double", function(double), max_batch=16, max_wait_ms=50, max_concurrent=1)
    client = connect(server)
    results = [client.double(i) for i in range(64) if i != 13]
    assert [r.get_value() for r in results] == [2 * i for i in range(64) if i != 13]
    assert len(sizes) <= 12
    results = [client.double(i) for i in range(8, 24)]
    assert [i for i, r in enumerate(results, 8) if not r.is_ok()] == [13]
    assert results[5].get_error()[0] == tf.errors.InvalidArgumentError.code


def test_calls_beyond_the_limits_are_refused(server):
    gate = Gate()
    server.register("wait", function(gate), max_concurrent=2, max_queued=1, output_specs=INT)
    client = connect(server)
    held = [client.wait(i) for i in range(3)]
    for _ in range(2):
        gate.begun.acquire()
    until(lambda: waiting(server) == 1)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="2 runs under way and 1 calls waiting"):
        client.wait_blocking(3)
    gate.open.set()
    assert [r.get_value() for r in held] == [0, 1, 2]
    assert client.wait_blocking(4) == 4


def test_a_cancelled_call_does_not_begin(server):
    gate = Gate()
    server.register("wait", function(gate), max_concurrent=1, output_specs=INT)
    client = connect(server)
    first = client.wait(1)
    gate.begun.acquire()
    second = client.wait(2)
    until(lambda: waiting(server) == 1)
    second.cancel()
    until(lambda: waiting(server) == 0)
    with pytest.raises(tf.errors.CancelledError):
        second.get_value()
    gate.open.set()
    assert first.get_value() == 1
    assert client.wait_blocking(3) == 3
    assert gate.ran == 2
    first.cancel()
    assert first.get_value() == 1, "what is over stays so"


def test_a_server_that_nobody_refers_to_stops():
    server = rpc.Server.create("grpc", "localhost:0")
    server.register("f", function(lambda x: x))
    client = connect(server)
    assert client.f_blocking(1) == 1
    del server
    with pytest.raises(tf.errors.DeadlineExceededError):
        client.f_blocking(1, timeout_in_ms=200)


def test_a_client_that_is_gone_is_forgotten(server):
    server.register("f", function(lambda x: x))
    client = connect(server)
    client.f_blocking(1)
    assert server._running().view().sessions == 1
    client.close()
    assert server._running().view().sessions == 0
    assert client.f(1).get_error()[0] == tf.errors.CancelledError.code


def test_several_threads_use_one_client(server):
    server.register("double", function(lambda x: tf.add(x, x)))
    client = connect(server)
    wrong: list[Any] = []

    def use(base: int) -> None:
        wrong.extend(i for i in range(base, base + 50) if client.double_blocking(i) != 2 * i)

    threads = [threading.Thread(target=use, args=(100 * i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_arguments_that_make_no_sense(server):
    with pytest.raises(ValueError, match="host:port"):
        rpc.Server.create("grpc", "localhost")
    with pytest.raises(TypeError, match="name is a text"):
        server.register(5, function(lambda x: x))
    for limits in ({"max_batch": 0}, {"max_concurrent": 0}, {"max_wait_ms": -1}, {"max_queued": -1}):
        with pytest.raises(ValueError, match="max_"):
            server.register("f", function(lambda x: x), **limits)

    def generator(x):
        yield x

    with pytest.raises(ValueError, match="batched"):
        server.register("f", function(generator), max_batch=2)
    client = connect(server)
    with pytest.raises(TypeError, match="milliseconds"):
        client.call("f", timeout_in_ms=1.5)
    with pytest.raises(TypeError, match="object"):
        client.call("f", [object()])
