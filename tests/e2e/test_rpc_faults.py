"""Servers that are really killed, and connections that are cut."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

import pytest

import tfsvc as tf
from tests.e2e.rpc_servers import INT, MS, Gate, function, rpc, until

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
