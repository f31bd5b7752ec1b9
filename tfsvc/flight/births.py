"""Births: all that a life of a node begins with, as data from which its machine is made.

Live nodes and replays make their machines here, so a replay begins as the life did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tfsvc.graph.planner import GraphPlanner
from tfsvc.protocol.client.caller import Caller
from tfsvc.protocol.client.machine import Client
from tfsvc.protocol.client.request import ReadRequest
from tfsvc.protocol.cluster.asker import Asker, AskerSettings
from tfsvc.protocol.cluster.desk import TaskSettings
from tfsvc.protocol.cluster.machine import ClusterServer
from tfsvc.protocol.contract import Role
from tfsvc.protocol.dispatcher.machine import Dispatcher
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import Request
from tfsvc.protocol.rpc.client import RpcClient
from tfsvc.protocol.rpc.server import RpcServer
from tfsvc.protocol.rpc.settings import MethodSettings, RpcServerSettings
from tfsvc.protocol.settings import ClientSettings, DispatcherSettings, WorkerSettings
from tfsvc.protocol.updates import Update
from tfsvc.protocol.worker.machine import Worker


@dataclass(frozen=True, slots=True)
class DispatcherBirth:
    settings: DispatcherSettings
    name: str
    incarnation: int
    seed: int
    records: tuple[Update, ...] = ()
    origin: int = 0

    def role(self) -> Role:
        luck = Luck(self.seed, self.name)
        return Dispatcher(self.settings, self.name, self.incarnation, luck, self.records, self.origin)


@dataclass(frozen=True, slots=True)
class WorkerBirth:
    settings: WorkerSettings
    incarnation: int
    seed: int

    @property
    def name(self) -> str:
        return self.settings.address

    def role(self) -> Role:
        return Worker(self.settings, self.incarnation, Luck(self.seed, self.name))


@dataclass(frozen=True, slots=True)
class ReaderBirth:
    request: ReadRequest
    settings: ClientSettings
    name: str
    incarnation: int
    seed: int

    def role(self) -> Role:
        return Client(self.request, self.settings, self.name, self.incarnation, Luck(self.seed, self.name))


@dataclass(frozen=True, slots=True)
class CallerBirth:
    name: str
    incarnation: int
    seed: int
    peer: str
    request: Request
    call_timeout_ns: int
    patience_ns: int

    def role(self) -> Role:
        luck = Luck(self.seed, self.name)
        return Caller(
            self.name, self.incarnation, luck, self.peer, self.request, self.call_timeout_ns, self.patience_ns
        )


@dataclass(frozen=True, slots=True)
class RpcServerBirth:
    methods: tuple[MethodSettings, ...]
    settings: RpcServerSettings
    name: str
    incarnation: int
    seed: int

    def role(self) -> Role:
        return RpcServer(self.methods, self.settings, Luck(self.seed, self.name))


@dataclass(frozen=True, slots=True)
class RpcClientBirth:
    peer: str
    name: str
    incarnation: int
    seed: int

    def role(self) -> Role:
        return RpcClient(self.peer, self.name, self.incarnation, Luck(self.seed, self.name))


@dataclass(frozen=True, slots=True)
class TaskBirth:
    """Of a cluster's server."""

    settings: TaskSettings
    incarnation: int
    seed: int

    @property
    def name(self) -> str:
        return dict(self.settings.addresses)[self.settings.task]

    def role(self) -> Role:
        return ClusterServer(self.settings, self.incarnation, Luck(self.seed, self.name), GraphPlanner())


@dataclass(frozen=True, slots=True)
class AskerBirth:
    name: str
    incarnation: int
    seed: int
    settings: AskerSettings

    def role(self) -> Role:
        return Asker(self.name, self.incarnation, Luck(self.seed, self.name), self.settings)


Birth = (
    DispatcherBirth | WorkerBirth | ReaderBirth | CallerBirth | RpcServerBirth | RpcClientBirth | TaskBirth | AskerBirth
)

ROLES: Final[dict[type, str]] = {
    DispatcherBirth: "dispatcher",
    WorkerBirth: "worker",
    ReaderBirth: "reader",
    CallerBirth: "caller",
    RpcServerBirth: "rpc-server",
    RpcClientBirth: "rpc-client",
    TaskBirth: "server",
    AskerBirth: "session",
}
"""What a node is called by what it does."""


def recovered(birth: Birth) -> int:
    """How many updates the life is folded from."""
    return len(birth.records) if isinstance(birth, DispatcherBirth) else 0
