"""A simulated cluster: servers as tasks of jobs, and programs that run steps on them.

A program is a generator, so it reads like a thread: it yields what it waits for, a question to a server or
a while of time, and goes on with the answer. It runs on a node of its own, which can crash; a restart
begins the program anew.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tfsvc.compat.v1.graph import Graph
from tfsvc.errors import Code, RpcError, to_exception
from tfsvc.graph.planner import GraphPlanner
from tfsvc.protocol.cluster.asker import Asker, AskerSettings
from tfsvc.protocol.cluster.desk import TaskSettings
from tfsvc.protocol.cluster.machine import ClusterServer
from tfsvc.protocol.cluster.names import Task
from tfsvc.protocol.contract import Posed
from tfsvc.protocol.ids import MILLISECOND, SECOND, Address
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import Request, Response
from tfsvc.protocol.messages import cluster as c
from tfsvc.protocol.reading import Delivery, Said
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import parse, serialize
from tfsvc.wire.tensors import from_proto, to_proto
from tfsvc_sim.nodes.node import Node
from tfsvc_sim.nodes.pool import GraphSpeed
from tfsvc_sim.nodes.world import World

ASKER: Final = AskerSettings(call_timeout_ns=SECOND // 2, patience_ns=SECOND)


@dataclass(frozen=True, slots=True)
class Ask:
    """A program's question to a server, for ``timeout_ns`` at the most."""

    peer: str
    request: Request
    timeout_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Rest:
    """A program does nothing for a while."""

    for_ns: int


Program = Generator[Ask | Rest, Any, None]


class Steps:
    """A session as programs use it; each of its methods is waited for with ``yield from``.

    Args:
      peer: the server that is its master.
      graph: what it runs.
      luck: names its requests.
      timeout_ms: how long a step may take.
    """

    def __init__(self, peer: str, graph: Graph, luck: Luck, timeout_ms: int = 20_000) -> None:
        self._peer = peer
        self._graph = graph
        self._luck = luck
        self._timeout_ms = timeout_ms
        self._handle = ""

    def open(self) -> Generator[Ask | Rest, Any, None]:
        """Opens the session.

        Raises:
          OpError: if it cannot be had.
        """
        config = c.SessionConfig(operation_timeout_in_ms=self._timeout_ms)
        answer: c.CreateSessionResponse = yield from self._ask(c.CreateSessionRequest(self._graph.serialized(), config))
        self._handle = answer.session_handle

    def run(
        self, fetches: Sequence[str], feeds: Mapping[str, Any] | None = None, targets: Sequence[str] = ()
    ) -> Generator[Ask | Rest, Any, list[Any]]:
        """Runs a step, and gives the fetched arrays.

        Raises:
          OpError: if it fails.
        """
        fed = tuple(c.NamedTensor(name, serialize(to_proto(value))) for name, value in (feeds or {}).items())
        request = c.RunStepRequest(
            self._handle,
            fed,
            tuple(fetches),
            tuple(targets),
            store_errors_in_response_body=True,
            request_id=self._luck.bits() >> 1,
        )
        answer: c.RunStepResponse = yield from self._ask(request)
        if answer.status_code:
            raise to_exception(RpcError(Code(answer.status_code), answer.status_error_message))
        return [from_proto(parse(pb.TensorProto, named.tensor)) for named in answer.tensor]

    def close(self) -> Generator[Ask | Rest, Any, None]:
        """Closes the session.

        Raises:
          OpError: if the server cannot be asked, or knows of no such session.
        """
        yield from self._ask(c.CloseSessionRequest(self._handle))

    def _ask(self, request: Request) -> Generator[Ask | Rest, Any, Any]:
        answer: Response = yield Ask(self._peer, request, self._timeout_ms * MILLISECOND)
        return answer


class Runner:
    """Runs a program on a node of its own.

    Args:
      make: the program of each life, given its luck.
    """

    def __init__(self, world: World, name: str, make: Callable[[Luck], Program]) -> None:
        self.ended = False
        """Whether the program has come to its end."""
        self._world = world
        self._make = make
        self._program: Program | None = None
        self._tokens = 0

        def boot(life: int, luck: Luck, _: object) -> Asker:
            self._program = make(luck.stream("program"))
            world.at(0, lambda: self._begin(life))
            return Asker(name, life, luck, ASKER)

        self.node = world.add(Node(world.surroundings, name, boot, finished=self._finished))

    def _begin(self, life: int) -> None:
        if self.node.alive and self.node.incarnation == life:
            self._resume(life, None)

    def _finished(self, token: int, result: Delivery | RpcError | None) -> None:
        if token == self._tokens:
            life = self.node.incarnation
            self._world.at(0, lambda: self._resume(life, result))

    def _resume(self, life: int, result: Delivery | RpcError | None) -> None:
        if not self.node.alive or self.node.incarnation != life or self._program is None:
            return
        try:
            if isinstance(result, RpcError):
                wish = self._program.throw(to_exception(result))
            else:
                wish = self._program.send(result.response if isinstance(result, Said) else None)
        except StopIteration:
            self.ended = True
            return
        match wish:
            case Ask(peer, request, timeout_ns):
                self._tokens += 1
                self.node.handle(Posed(self._tokens, Address(peer), request, timeout_ns), "program asks")
            case Rest(for_ns):
                self._world.at(for_ns, lambda: self._resume(life, None))


def add_cluster(world: World, jobs: Mapping[str, int], speed: GraphSpeed | None = None) -> list[str]:
    """Adds a server for every task of the jobs; their addresses are names such as ``ps0``."""
    addresses = tuple((Task(job, index), f"{job}{index}") for job, count in jobs.items() for index in range(count))
    for task, address in addresses:
        settings = TaskSettings(task, addresses, call_timeout_ns=SECOND // 2, grace_ns=4 * SECOND)
        world.add(_server(world, settings, address, speed or GraphSpeed()))
    return [address for _, address in addresses]


def _server(world: World, settings: TaskSettings, address: str, speed: GraphSpeed) -> Node:
    def boot(life: int, luck: Luck, _: object) -> ClusterServer:
        return ClusterServer(settings, life, luck, GraphPlanner())

    return Node(world.surroundings, address, boot, speed=speed)
