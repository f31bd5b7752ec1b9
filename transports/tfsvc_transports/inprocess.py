"""Nodes of one process call each other: no bytes, real threads, the real clock."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable

from tfsvc.errors import AlreadyExistsError, Code, Outcome, RpcError
from tfsvc.protocol.ids import Address
from tfsvc.protocol.messages import CANCELLABLE, Request, Response
from tfsvc_transports import timers
from tfsvc_transports.transport import Answer, Cancel, Handler


class Network:
    """Connects the nodes that share it; the process has one of its own as the default."""

    def __init__(self) -> None:
        self._servers: dict[Address, _Server] = {}
        self._ports = itertools.count(1)
        self._lock = threading.Lock()

    def bind(self, host: str, port: int, handler: Handler) -> tuple[int, _Server]:
        """Makes ``handler`` reachable; raises ``AlreadyExistsError`` where another one is."""
        with self._lock:
            port = port or next(p for p in self._ports if Address(f"{host}:{p}") not in self._servers)
            address = Address(f"{host}:{port}")
            if address in self._servers:
                raise AlreadyExistsError(message=f"{address} is in use")
            server = self._servers[address] = _Server(address, handler)
            return port, server

    def find(self, address: Address) -> _Server | None:
        return self._servers.get(address)

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Of all nodes that can be reached."""
        return tuple(self._servers)

    def clear(self) -> None:
        """Forgets all nodes, as a forked child must, where none of them runs."""
        self._servers.clear()

    def unbind(self, server: _Server) -> None:
        with self._lock:
            if self._servers.get(server.address) is server:
                del self._servers[server.address]


class InProcess:
    """A ``Transport`` between nodes of one process.

    Args:
      network: who can be reached; the process's own by default.
    """

    def __init__(self, network: Network | None = None) -> None:
        self._network = NETWORK if network is None else network
        self._name = Address("in-process")
        self._servers: list[_Server] = []
        self._calls: dict[_Call, None] = {}
        self._closed = False

    def serve(self, host: str, port: int, handler: Handler) -> int:
        port, server = self._network.bind(host, port, handler)
        self._servers.append(server)
        self._name = server.address
        return port

    def call(self, peer: Address, request: Request, timeout_ns: int, done: Answer) -> None:
        server = self._network.find(peer)
        if server is None:
            text = f"failed to connect to {peer}: no node of this process is there"
            done(RpcError(Code.UNAVAILABLE, text, Outcome.UNREACHED))
            return
        call = _Call(done, lambda: self._calls.pop(call, None))
        self._calls[call] = None
        if self._closed:
            call.end(RpcError(Code.CANCELLED, "the caller was closed", Outcome.UNKNOWN))
            return
        text = f"{peer} did not answer within {timeout_ns / 1e9:g} s"
        late = RpcError(Code.DEADLINE_EXCEEDED, text, Outcome.UNKNOWN)
        timers.at(time.monotonic_ns() + timeout_ns, lambda: call.give_up(late))
        server.take(self._name, request, call)

    def close(self) -> None:
        self._closed = True
        for server in self._servers:
            self._network.unbind(server)
            server.close()
        for call in tuple(self._calls):
            call.give_up(RpcError(Code.CANCELLED, "the caller was closed", Outcome.UNKNOWN))


class _Call:
    """A call on its way; whoever ends it first decides its answer."""

    def __init__(self, done: Answer, ended: Callable[[], object]) -> None:
        self._done: list[Answer] = [done]
        self._ended = ended
        self.cancel: Cancel = lambda: None
        """Tells the server that nobody waits any more."""

    @property
    def over(self) -> bool:
        return not self._done

    def end(self, answer: Response | RpcError) -> None:
        try:
            done = self._done.pop()
        except IndexError:
            return
        self._ended()
        done(answer)

    def give_up(self, error: RpcError) -> None:
        """Ends it for the caller's part."""
        self.end(error)
        self.cancel()


class _Server:
    """A node that can be reached, and the calls it has not answered."""

    def __init__(self, address: Address, handler: Handler) -> None:
        self.address = address
        self._handler = handler
        self._open: dict[_Call, None] = {}
        self._closed = False

    def take(self, peer: Address, request: Request, call: _Call) -> None:
        self._open[call] = None
        if self._closed:
            self._cut(call)
            return

        def answer(given: Response | RpcError) -> None:
            if self._open.pop(call, call) is None:
                call.end(given)

        told = self._handler(peer, request, answer)

        def cancel() -> None:
            self._open.pop(call, None)
            told()

        if type(request) in CANCELLABLE:
            call.cancel = cancel
            if call.over:
                cancel()

    def close(self) -> None:
        self._closed = True
        for call in tuple(self._open):
            self._cut(call)

    def _cut(self, call: _Call) -> None:
        if self._open.pop(call, call) is None:
            call.end(RpcError(Code.UNAVAILABLE, f"the connection to {self.address} was lost", Outcome.UNKNOWN))


NETWORK = Network()
"""Of this process."""
