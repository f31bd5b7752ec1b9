"""Remote calls on gRPC: what ours offers beyond TensorFlow's, and servers that really die."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import tfsvc as tf

rpc = tf.distribute.experimental.rpc
INT = tf.TensorSpec([], tf.int32)
MS = 20_000


def function(python: Any) -> Any:
    return tf.function(python, input_signature=[INT])


class Gate:
    """A function that waits until it is opened, and knows how often it ran."""

    def __init__(self) -> None:
        self.ran = 0
        self.open = threading.Event()
        self.begun = threading.Semaphore(0)

    def __call__(self, x: Any) -> Any:
        self.ran += 1
        self.begun.release()
        assert self.open.wait(20)
        return int(x)


def until(done: Any) -> None:
    """Waits for what another thread brings about."""
    limit = time.monotonic() + 20
    while not done():
        assert time.monotonic() < limit
        time.sleep(0.005)


def waiting(server: Any) -> int:
    """How many calls of the method ``wait`` have not begun."""
    return server._running().view().waiting["wait"]  # type: ignore[no-any-return]


@pytest.fixture
def server() -> Iterator[Any]:
    made = rpc.Server.create("grpc", "localhost:0")
    yield made
    made.stop()


def connect(server: Any, **more: Any) -> Any:
    server.start()
    return rpc.Client.create("grpc", server.address, timeout_in_ms=MS, **more)


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
    with pytest.raises(tf.errors.ResourceExhaustedError, match="2 runs under way and 1 calls waiting"):
        client.wait_blocking(3)
    gate.open.set()
    assert [r.get_value() for r in held] == [0, 1, 2]
    assert client.wait_blocking(4) == 4


def test_a_cancelled_call_does_not_begin(server):
    gate = Gate()
    server.register("wait", function(gate), max_concurrent=1, output_specs=INT)
    client = connect(server)
    first, second = client.wait(1), client.wait(2)
    gate.begun.acquire()
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


def test_results_stream_as_they_are_made_and_end_with_their_reader(server):
    gate, closed = Gate(), threading.Event()

    def count(n):
        try:
            yield {"first": int(n)}
            gate(n)
            yield {"second": [1.5, b"text"]}
            while True:
                yield {}
        finally:
            closed.set()

    server.register("count", function(count))
    client = connect(server)
    with client.count(7) as stream:
        assert next(stream) == {"first": 7}
        gate.open.set()
        assert next(stream) == {"second": [1.5, b"text"]}
        assert not closed.is_set()
    assert closed.wait(10)
    assert list(stream) == []


def test_a_stream_of_many_items_and_one_that_fails(server):
    def numbers(n):
        yield from range(int(n))
        raise RuntimeError("that was all")

    server.register("numbers", function(numbers))
    client = connect(server)
    stream = client.numbers(1000)
    assert [next(stream) for _ in range(1000)] == list(range(1000))
    with pytest.raises(tf.errors.UnknownError, match="RuntimeError: that was all"):
        next(stream)
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(client.numbers(1.5))


def test_an_interrupted_wait_for_a_result_loses_none(server):
    gate = Gate()

    def numbers(n):
        yield gate(n)
        yield n + 1

    server.register("numbers", function(numbers))
    stream = connect(server).numbers(1)
    gate.begun.acquire()
    main = threading.main_thread()
    assert threading.current_thread() is main
    threading.Timer(0.3, signal.pthread_kill, (main.ident, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    gate.open.set()
    assert list(stream) == [1, 2]


def test_a_slow_reader_holds_up_the_function(server):
    made = []

    def chunks(n):
        for i in range(int(n)):
            made.append(i)
            yield np.zeros(1 << 17, np.float64)

    server.register("chunks", function(chunks))
    client = connect(server)
    stream = client.chunks(100)
    next(stream)
    time.sleep(0.5)
    assert len(made) < 30, "of items of 1 MiB a few are made ahead"
    assert sum(1 for _ in stream) == 99


def test_the_client_of_asyncio(server):
    gate = Gate()
    server.register("wait", function(gate), max_concurrent=1, output_specs=INT)
    server.register("add_one", function(lambda x: tf.add(x, 1)))
    server.register("fail", function(lambda x: tf.constant([1, 2])[x]))
    server.register("count", function(lambda n: n))

    def up_to(n):
        yield from range(int(n))

    server.register("up_to", function(up_to))
    server.start()

    async def main() -> None:
        async with await rpc.AsyncClient.create("grpc", server.address, timeout_in_ms=MS) as client:
            found = await asyncio.gather(*(client.add_one(i) for i in range(20)))
            assert found == list(range(1, 21))
            assert await client.call("add_one", [5], INT) == 6
            assert [x async for x in client.up_to(5)] == [0, 1, 2, 3, 4]
            with pytest.raises(tf.errors.OpError):
                await client.fail(7)
            first = asyncio.create_task(client.wait(1))
            second = asyncio.create_task(client.wait(2))
            await asyncio.to_thread(until, lambda: gate.ran == 1 and waiting(server) == 1)
            second.cancel()
            await asyncio.to_thread(until, lambda: waiting(server) == 0)
            with pytest.raises(asyncio.CancelledError):
                await second
            gate.open.set()
            assert await first == 1
            assert gate.ran == 1
            gate.open.clear()
            with pytest.raises(tf.errors.DeadlineExceededError):
                await client.wait(3, timeout_in_ms=50)
            gate.open.set()

    asyncio.run(main())
    with pytest.raises(tf.errors.DeadlineExceededError):
        asyncio.run(rpc.AsyncClient.create("grpc", "localhost:1", timeout_in_ms=50))


SERVER = """
import sys, time
import tfsvc as tf
rpc = tf.distribute.experimental.rpc

@tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
def slow(ms):
    open(sys.argv[2], "a").write(f"{int(ms)}\\n")
    time.sleep(int(ms) / 1000)
    return ms

server = rpc.Server.create("grpc", sys.argv[1])
server.register("slow", slow, output_specs=tf.TensorSpec([], tf.int32))
server.start()
print(server.address, flush=True)
sys.stdin.read()
"""


class Served:
    """A server in a process of its own."""

    def __init__(self, address: str, log: Any) -> None:
        command = [sys.executable, "-c", SERVER, address, str(log)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.mark.parametrize("retry", [False, True])
def test_a_server_that_is_killed_in_the_middle_of_a_call(tmp_path, retry):
    log = tmp_path / "runs"
    served = Served("localhost:0", log)
    client = rpc.Client.create("grpc", served.address, timeout_in_ms=MS, retry=retry)
    assert client.slow_blocking(1) == 1
    result = client.slow(10_000)
    until(lambda: "10000" in log.read_text())
    began = time.monotonic()
    served.kill()
    if not retry:
        assert result.get_error()[0] == tf.errors.UnavailableError.code
        assert time.monotonic() - began < 5
    again = Served(served.address, log)
    assert client.slow_blocking(2) == 2
    if retry:
        with pytest.raises(tf.errors.AbortedError, match="may have run"):
            result.get_value()
    assert log.read_text().split() == ["1", "10000", "2"], "what may have run does not run again"
    again.kill()


class Proxy:
    """Hands bytes on between clients and a server, until its connections are cut."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = host, int(port)
        self._listener = socket.create_server(("localhost", 0))
        self._open: list[socket.socket] = []
        self.address = f"localhost:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Ends all connections; new ones are taken on."""
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
        self.cut()
        for end in self._open:
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._target)
                self._open += near, far
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._pump, args=ends, daemon=True).start()

    @staticmethod
    def _pump(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("retry", [False, True])
def test_a_connection_that_is_lost_in_the_middle_of_a_call(server, retry):
    gate = Gate()
    server.register("wait", function(gate), output_specs=INT)
    server.start()
    proxy = Proxy(server.address)
    client = rpc.Client.create("grpc", proxy.address, timeout_in_ms=MS, retry=retry)
    result = client.wait(7)
    gate.begun.acquire()
    proxy.cut()
    if retry:
        time.sleep(0.3)
        proxy.cut()
        gate.open.set()
        assert result.get_value() == 7
        assert gate.ran == 1
    else:
        assert result.get_error()[0] == tf.errors.UnavailableError.code
        gate.open.set()
    client.close()
    proxy.close()


def test_a_stream_goes_on_behind_a_lost_connection(server):
    def numbers(n):
        yield from range(int(n))

    server.register("numbers", function(numbers))
    server.start()
    proxy = Proxy(server.address)
    client = rpc.Client.create("grpc", proxy.address, timeout_in_ms=MS)
    got = []
    for number in client.numbers(500):
        if number % 100 == 50:
            proxy.cut()
        got.append(int(number))
    assert got == list(range(500))
    client.close()
    proxy.close()


def test_a_result_may_be_awaited_more_than_once(server):
    server.register("add_one", function(lambda x: tf.add(x, 1)))
    client = connect(server)

    async def main() -> list[int]:
        result = client.add_one(1)
        return [*await asyncio.gather(*(wait(result) for _ in range(3))), await result, result.get_value()]

    async def wait(result: Any) -> int:
        return await result  # type: ignore[no-any-return]

    assert asyncio.run(main()) == [2] * 5


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
