"""The drivers under test, behind one small face.

An arm runs roles as nodes that reach each other. Test bodies say what should happen and let time pass
with ``until``; on a real driver that is real time, on a simulated one it is not.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from tfsvc.errors import RpcError
from tfsvc.protocol.contract import Role, Stopped, Wanted
from tfsvc.protocol.gate import Gate
from tfsvc.protocol.reading import Delivery
from tfsvc.protocol.updates import Update
from tfsvc_transports.driver import Driver
from tfsvc_transports.grpc.transport import GrpcTransport
from tfsvc_transports.inprocess import InProcess, Network
from tfsvc_transports.journal import GroupJournal, MemoryJournal
from tfsvc_transports.pool import Pool
from tfsvc_transports.transport import Transport


class Node(Protocol):
    """A role that an arm drives."""

    @property
    def address(self) -> str:
        """Where the others reach it."""
        ...

    def crash(self) -> None:
        """Ends it at once."""
        ...


class Arm(Protocol):
    """One way to run nodes."""

    def node(self, make: Callable[[str], Role], store: Store | None = None) -> Node:
        """A running node; ``make`` builds its role for the address it has."""
        ...

    def request(self, node: Node, make: Callable[[int], Wanted | Stopped]) -> Delivery | RpcError | None:
        """Hands in an application's event and lets time pass until it is finished."""
        ...

    def until(self, holds: Callable[[], bool], seconds: float = 10.0) -> None:
        """Lets time pass until ``holds``; fails the test if that takes longer."""
        ...

    def rest(self, seconds: float) -> None:
        """Lets time pass."""
        ...

    def nowhere(self) -> str:
        """An address where no node is."""
        ...

    def close(self) -> None:
        """Ends all nodes."""
        ...


class Store:
    """A store that takes 50 ms to write, and knows when what was durable."""

    def __init__(self) -> None:
        self.durable: list[Update] = []

    def read(self) -> Sequence[Update]:
        return tuple(self.durable)

    def write(self, updates: Sequence[Update]) -> None:
        time.sleep(0.05)
        self.durable.extend(updates)


class _RealNode:
    def __init__(self, driver: Driver, address: str) -> None:
        self.driver = driver
        self.address = address

    def crash(self) -> None:
        self.driver.crash()


class RealArm:
    """Real threads and the real clock, on a given transport."""

    def __init__(self, connect: Callable[[], Transport]) -> None:
        self._connect = connect
        self._nodes: list[_RealNode] = []

    def node(self, make: Callable[[str], Role], store: Store | None = None) -> _RealNode:
        journal = MemoryJournal() if store is None else GroupJournal(store)
        driver = Driver("node", self._connect(), Pool(), journal)
        address = f"localhost:{driver.listen('localhost', 0)}"
        node = _RealNode(driver, address)
        self._nodes.append(node)
        driver.start(Gate(make(address)))
        return node

    def request(self, node: Node, make: Callable[[int], Wanted | Stopped]) -> Delivery | RpcError | None:
        assert isinstance(node, _RealNode)
        return node.driver.request(make).wait(30)

    def until(self, holds: Callable[[], bool], seconds: float = 10.0) -> None:
        give_up = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < give_up, f"it did not happen within {seconds:g} s"
            time.sleep(0.002)

    def rest(self, seconds: float) -> None:
        time.sleep(seconds)

    def nowhere(self) -> str:
        with socket.socket() as free:
            free.bind(("localhost", 0))
            return f"localhost:{free.getsockname()[1]}"

    def close(self) -> None:
        for node in self._nodes:
            node.crash()


def in_process() -> Arm:
    network = Network()
    return RealArm(lambda: InProcess(network))


def grpc() -> Arm:
    return RealArm(GrpcTransport)


ARMS: dict[str, Callable[[], Arm]] = {"in-process": in_process, "grpc": grpc}
