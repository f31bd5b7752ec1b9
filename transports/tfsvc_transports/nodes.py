"""Nodes as their users hold them: a server, a reader, and one question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from tfsvc.errors import FailedPreconditionError, RpcError, to_exception
from tfsvc.flight.births import Birth
from tfsvc.protocol.client.machine import STAKE_TIMEOUT_NS
from tfsvc.protocol.cluster.desk import TaskSettings
from tfsvc.protocol.contract import Invoked, Posed, Snapshot, Stopped, Wanted
from tfsvc.protocol.ids import SECOND, Address
from tfsvc.protocol.messages import Request, Response
from tfsvc.protocol.reading import Batch, EndOfData, MakeUp, Said, Taken
from tfsvc.protocol.rpc.wishes import Wish
from tfsvc_transports import timers
from tfsvc_transports.driver import Driver, Pending
from tfsvc_transports.nearby import WORKERS

STOP_S: Final = 1.5
"""How long a node may take to end in good order."""

LEAVE_S: Final = STAKE_TIMEOUT_NS / SECOND + STOP_S
"""How long a reader may, which decides by itself how long it tries."""


class ServerNode:
    """A machine that serves on a port.

    Args:
      driver: runs the machine, which has started.
      port: the port it is bound to.
      stop_s: how long it may take to end in good order.
      http_port: where it answers HTTP, if it does.
    """

    def __init__(self, driver: Driver, port: int, stop_s: float = STOP_S, http_port: int | None = None) -> None:
        self._driver = driver
        self._port = port
        self._stop_s = stop_s
        self.http_port = http_port

    @property
    def port(self) -> int:
        return self._port

    def stop(self) -> None:
        """Ends it in good order; the port is free afterwards."""
        self._driver.end(Stopped, self._stop_s)

    def drain(self, grace_s: float) -> bool:
        """Ends a worker as soon as nothing is lost by that, or after ``grace_s``; whether nothing was lost."""
        grace_ns = int(grace_s * 1e9)
        return self._driver.end(lambda token: Stopped(token, grace_ns=grace_ns), grace_s + self._stop_s)

    def crash(self) -> None:
        """Ends it as a crash of its process would."""
        self._driver.crash()

    def join(self, timeout: float | None = None) -> bool:
        """Waits until it has stopped; false after ``timeout`` seconds.

        Raises:
          OpError: if it stopped by itself, since it could not go on.
        """
        ended = self._driver.join(timeout)
        if self._driver.failure is not None:
            raise to_exception(self._driver.failure)
        return ended

    def view(self) -> Snapshot:
        """The machine's own picture of itself."""
        return self._driver.view()


class BoundTask:
    """A bound port where a cluster's server will be, or is.

    Args:
      make: its life for its settings, which name the port.
    """

    def __init__(self, driver: Driver, port: int, make: Callable[[TaskSettings], Birth]) -> None:
        self._driver = driver
        self._port = port
        self._make = make

    @property
    def port(self) -> int:
        return self._port

    def start(self, settings: TaskSettings) -> ServerNode:
        """Serves; what was asked since the port was bound is answered now."""
        self._driver.begin(self._make(settings))
        return ServerNode(self._driver, self._port)

    def close(self) -> None:
        """Frees the port of a server that was never started."""
        self._driver.crash()


class AskerNode:
    """Asks masters for an application. Any number of threads may use it.

    Args:
      driver: runs the machine, which has started.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def ask(self, peer: str, request: Request, timeout_ns: int | None = None) -> Response:
        """What ``peer`` answers; Ctrl-C interrupts the wait.

        Args:
          timeout_ns: how long to wait; as long as it takes when not given.

        Raises:
          OpError: if the question was refused, or not answered in time, or the peer is gone.
        """
        pending = self._driver.request(lambda token: Posed(token, Address(peer), request, timeout_ns))
        result = pending.wait()
        if isinstance(result, RpcError):
            raise to_exception(result)
        assert isinstance(result, Said), result
        return result.response

    def close(self, *, wait: bool = True) -> None:
        """Ends all waits. Safe to repeat; without ``wait`` also in a finalizer."""
        if wait:
            self._driver.crash()
        else:
            timers.soon(self._driver.crash)


class ReaderNode:
    """A client machine as its application sees it. One thread at a time may use it.

    Args:
      driver: runs the machine, which has started.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._wanted: Pending | None = None
        self._closed = False

    def next_batch(self, taken: Sequence[Taken] = ()) -> Batch | MakeUp | EndOfData:
        """Waits for the next elements; Ctrl-C interrupts the wait, and nothing is lost by it.

        Args:
          taken: what was consumed of those before.

        Raises:
          OpError: if nothing more can be read.
        """
        self._driver.check_process()
        if self._wanted is None:
            consumed = tuple(taken)
            nearby = WORKERS.addresses
            self._wanted = self._driver.request(lambda token: Wanted(token, consumed, nearby))
        result = self._wanted.wait()
        self._wanted = None
        if isinstance(result, RpcError):
            raise to_exception(result)
        assert isinstance(result, Batch | MakeUp | EndOfData), result
        return result

    def look(self, taken: Callable[[], tuple[Taken, ...]]) -> None:
        """Has ``taken`` asked on any thread, now and then, for what was consumed since."""
        self._driver.taken = taken

    def close(self, taken: Sequence[Taken] = (), *, wait: bool = True) -> None:
        """Gives back what was not consumed; further calls do nothing.

        Args:
          wait: whether to wait until the dispatcher knows: for a second at the most, or for ten where other
            readers would get again what was consumed. Ctrl-C interrupts the wait.
        """
        if self._closed:
            return
        self._closed = True
        consumed = tuple(taken)
        with suppress(FailedPreconditionError):  # a forked child leaves the reader to its parent
            self._driver.end(lambda token: Stopped(token, consumed), LEAVE_S, wait)


class RpcCallerNode:
    """An RPC client machine as its application sees it. Any number of threads may use it.

    Args:
      driver: runs the machine, which has started.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._closed = False

    def want(self, wish: Wish) -> Pending:
        """Hands in a wish, and returns where its result will be."""
        return self._driver.request(lambda token: Invoked(token, wish))

    def close(self, *, wait: bool = True) -> None:
        """Gives up all calls, and tells the server; further calls do nothing.

        Args:
          wait: whether to wait until the server knows, for 1.5 s at the most.
        """
        if self._closed:
            return
        self._closed = True
        with suppress(FailedPreconditionError):  # a forked child leaves the client to its parent
            self._driver.end(Stopped, STOP_S, wait)

    def __del__(self) -> None:
        self.close(wait=False)


def ask(driver: Driver, caller: Birth) -> Response:
    """What ``caller`` is answered; the driver ends with it.

    Raises:
      OpError: if the question was refused, or not answered in time.
    """
    answer = driver.expect(0)
    driver.begin(caller)
    try:
        result = answer.wait()
    finally:
        driver.crash()
    if isinstance(result, RpcError):
        raise to_exception(result)
    assert isinstance(result, Said), result
    return result.response
