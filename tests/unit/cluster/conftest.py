"""A cluster's server without a driver: events go in, words come out."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest

from tfsvc.errors import InvalidArgumentError
from tfsvc.protocol.cluster.desk import TaskSettings
from tfsvc.protocol.cluster.machine import ClusterServer
from tfsvc.protocol.cluster.names import Task
from tfsvc.protocol.cluster.planning import Piece, Places, Port, Signature
from tfsvc.protocol.computing import Computation, Finished, Value
from tfsvc.protocol.contract import (
    Answered,
    Asked,
    Call,
    Cancelled,
    Compute,
    Computed,
    Event,
    Failed,
    Reply,
    Woke,
    Word,
)
from tfsvc.protocol.ids import Address, CallId
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import cluster as c

W = TypeVar("W")
PS, WORKER = Task("ps", 0), Task("worker", 0)
ADDRESSES = ((PS, "ps:1"), (WORKER, "worker:1"))


class StubPlanner:
    """Every step has one piece on each task that a fetch's name begins with."""

    def extend(self, graph: Any, definition: bytes) -> bytes:
        if definition == b"bad":
            raise InvalidArgumentError(message="no graph")
        return (graph or b"") + definition

    def plan(self, graph: Any, signature: Signature, places: Places) -> tuple[Piece, ...]:
        pieces = []
        for task in (PS, WORKER):
            mine = [name for name in (*signature.fetches, *signature.targets) if name.startswith(task.job)]
            if mine:
                fetches = tuple(Port(name, f"{task.device};{1:016x};{task.device};{name};0:0") for name in mine)
                pieces.append(Piece(task, graph, (), fetches))
        return tuple(pieces)


class Bench:
    """The server of ``worker:1``, whose words pile up in ``words``."""

    def __init__(self, **settings: Any) -> None:
        self.now = 0
        self.words: list[Word] = []
        self._asked = 0
        self.server = ClusterServer(TaskSettings(WORKER, ADDRESSES, **settings), 7, Luck(1), StubPlanner())

    def handle(self, event: Event) -> None:
        self.words.extend(self.server.handle(event, self.now).words)

    def ask(self, request: Any) -> CallId:
        """Asks as a peer would; the answer comes with ``answer``."""
        self._asked += 1
        call = CallId("peer", 1, self._asked)
        self.handle(Asked(call, Address("peer"), request))
        return call

    def leave(self, call: CallId) -> None:
        """Whoever asked waits no longer."""
        self.handle(Cancelled(call))

    def sleep(self, for_ns: int) -> None:
        """Lets time pass."""
        self.now += for_ns
        self.handle(Woke())

    def answer(self, call: CallId) -> Any:
        """What was answered to a call; ``None`` as long as there is nothing."""
        found = [word.answer for word in self.words if isinstance(word, Reply) and word.call == call]
        assert len(found) < 2, "answered twice"
        return found[0] if found else None

    def take(self, kind: type[W]) -> W:
        """The next word of a kind, which is then gone."""
        word = next(w for w in self.words if isinstance(w, kind))
        self.words.remove(word)  # type: ignore[arg-type]
        return word

    def calls(self, kind: type) -> list[Call]:
        """The calls of ours whose request is of a kind."""
        return [word for word in self.words if isinstance(word, Call) and isinstance(word.request, kind)]

    def reply(self, call: Call, response: Any) -> None:
        """Lets a peer answer a call of ours."""
        self.words.remove(call)
        failed = not hasattr(response, "__slots__") or type(response).__name__ == "RpcError"
        self.handle(Failed(call.call, response) if failed else Answered(call.call, response))

    def finish(self, *values: Value) -> None:
        """Lets the next piece come to its end."""
        self.handle(Computed(self.take(Compute).piece, Computation(values, Finished())))

    def open_session(self) -> str:
        """A session whose other task is there."""
        call = self.ask(c.CreateSessionRequest(b"graph"))
        device = c.DeviceAttributes(PS.device, "CPU", 1, 9)
        self.reply(self.calls(c.GetStatusRequest)[0], c.GetStatusResponse((device,)))
        self.reply(self.calls(c.CreateWorkerSessionRequest)[0], c.CreateWorkerSessionResponse())
        handle: str = self.answer(call).session_handle
        return handle


@pytest.fixture
def bench() -> Bench:
    return Bench()
