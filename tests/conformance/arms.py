"""The drivers under test, behind one small face.

An arm runs roles as nodes that reach each other. Test bodies say what should happen and let time pass
with ``until``; on a real driver that is real time, on a simulated one it is not.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from itertools import count
from typing import Protocol

from tfsvc.errors import RpcError
from tfsvc.protocol.contract import Posed, Role, Stopped, Wanted
from tfsvc.protocol.gate import Gate
from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.reading import Delivery
from tfsvc.protocol.updates import Update
from tfsvc_sim.kernel.disk import Disk
from tfsvc_sim.kernel.engine import Engine, SimPyEngine
from tfsvc_sim.kernel.network import Network as SimulatedNetwork
from tfsvc_sim.kernel.trace import Trace
from tfsvc_sim.nodes.node import Node as SimulatedNode
from tfsvc_sim.nodes.node import Surroundings
from tfsvc_sim.nodes.pool import GraphSpeed, Speed
from tfsvc_transports.driver import Driver
from tfsvc_transports.grpc.transport import GrpcTransport
from tfsvc_transports.inprocess import InProcess, Network
from tfsvc_transports.journal import GroupJournal, MemoryJournal
from tfsvc_transports.pool import GraphPool, Pool
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

    def node(self, make: Callable[[str], Role], store: Store | None = None, graphs: bool = False) -> Node:
        """A running node; ``make`` builds its role for its address. ``graphs``: it runs graphs, not pipelines."""
        ...

    def request(self, node: Node, make: Callable[[int], Wanted | Posed | Stopped]) -> Delivery | RpcError | None:
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

    def check(self) -> None:
        """It is always there."""

    def close(self) -> None:
        """There is nothing to let go of."""


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

    def node(self, make: Callable[[str], Role], store: Store | None = None, graphs: bool = False) -> _RealNode:
        journal = MemoryJournal() if store is None else GroupJournal(store)
        pools = {"computers": GraphPool()} if graphs else {"producers": Pool()}
        driver = Driver("node", self._connect(), journal=journal, **pools)
        address = f"localhost:{driver.listen('localhost', 0)}"
        node = _RealNode(driver, address)
        self._nodes.append(node)
        driver.start(Gate(make(address)))
        return node

    def request(self, node: Node, make: Callable[[int], Wanted | Posed | Stopped]) -> Delivery | RpcError | None:
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


class _SimDisk(Disk):
    """A simulated disk that tells the test's store what is durable."""

    def __init__(self, engine: Engine, luck: Luck, store: Store) -> None:
        super().__init__(engine, luck)
        self._store = store

    def _done(self, life: int, upto: int) -> None:
        self._store.durable = self.records[:upto]
        super()._done(life, upto)


class SimulatedArm:
    """Simulated time, on one thread."""

    def __init__(self) -> None:
        self._engine = SimPyEngine(1)
        self._luck = Luck(1, "arm")
        network = SimulatedNetwork(self._engine, self._luck.stream("network"))
        self._surroundings = Surroundings(self._engine, network, Trace(False), self._luck)
        self._addresses = count()
        self._tokens = count(1)
        self._results: dict[int, Delivery | RpcError | None] = {}

    def node(self, make: Callable[[str], Role], store: Store | None = None, graphs: bool = False) -> SimulatedNode:
        address = f"node{next(self._addresses)}"
        disk_luck = self._luck.stream(f"disk/{address}")
        disk = Disk(self._engine, disk_luck) if store is None else _SimDisk(self._engine, disk_luck, store)
        node = SimulatedNode(
            self._surroundings,
            address,
            lambda *_: make(address),
            disk=disk,
            speed=GraphSpeed() if graphs else Speed(),
            finished=self._results.__setitem__,
        )
        node.start()
        return node

    def request(self, node: Node, make: Callable[[int], Wanted | Posed | Stopped]) -> Delivery | RpcError | None:
        assert isinstance(node, SimulatedNode)
        token = next(self._tokens)
        node.handle(make(token), "is asked by its application")
        self.until(lambda: token in self._results, 30)
        return self._results.pop(token)

    def until(self, holds: Callable[[], bool], seconds: float = 10.0) -> None:
        give_up = self._engine.now + int(seconds * SECOND)
        while not holds():
            assert self._engine.now < give_up, f"it did not happen within {seconds:g} simulated seconds"
            self._engine.run(self._engine.now + MILLISECOND)

    def rest(self, seconds: float) -> None:
        self._engine.run(self._engine.now + int(seconds * SECOND))

    def nowhere(self) -> str:
        return "nowhere"

    def close(self) -> None:
        """Simulated nodes leave nothing behind."""


def in_process() -> Arm:
    network = Network()
    return RealArm(lambda: InProcess(network))


def grpc() -> Arm:
    return RealArm(GrpcTransport)


ARMS: dict[str, Callable[[], Arm]] = {"simulated": SimulatedArm, "in-process": in_process, "grpc": grpc}
