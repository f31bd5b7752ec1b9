"""Steps of a cluster's server on each driver: every run of a piece ends, and changes state when it should."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.conformance.arms import ARMS, Arm, Node
from tfsvc.compat import v1
from tfsvc.compat.v1.graph import Graph
from tfsvc.errors import Code, RpcError
from tfsvc.graph.planner import GraphPlanner
from tfsvc.protocol.cluster.asker import Asker, AskerSettings
from tfsvc.protocol.cluster.desk import TaskSettings
from tfsvc.protocol.cluster.machine import ClusterServer
from tfsvc.protocol.cluster.names import Task
from tfsvc.protocol.contract import Posed
from tfsvc.protocol.ids import Address
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import cluster as c
from tfsvc.protocol.reading import Said
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.tensors import from_proto


@pytest.fixture(params=ARMS)
def arm(request: pytest.FixtureRequest) -> Iterator[Arm]:
    made = ARMS[request.param]()
    yield made
    made.close()


class Client:
    """A session on the server of a cluster of one."""

    def __init__(self, arm: Arm, graph: Graph) -> None:
        def serve(address: str) -> ClusterServer:
            task = Task("local", 0)
            return ClusterServer(TaskSettings(task, ((task, address),)), 1, Luck(1), GraphPlanner())

        self._arm = arm
        self._server: Node = arm.node(serve, graphs=True)
        self._node = arm.node(lambda address: Asker(address, 1, Luck(2), AskerSettings()))
        self._requests = 0
        created = self.ask(c.CreateSessionRequest(graph.serialized()))
        assert isinstance(created, Said)
        assert isinstance(created.response, c.CreateSessionResponse)
        self._handle = created.response.session_handle

    def ask(self, request: Any) -> Any:
        peer = Address(self._server.address)
        return self._arm.request(self._node, lambda token: Posed(token, peer, request, None))

    def run(self, *fetches: str, targets: tuple[str, ...] = (), timeout_ms: int = 0) -> Any:
        self._requests += 1
        options = c.RunOptions(timeout_ms)
        request = c.RunStepRequest(self._handle, (), fetches, targets, options, request_id=self._requests)
        answer = self.ask(request)
        if isinstance(answer, RpcError):
            return answer
        return [from_proto(pb.TensorProto.FromString(named.tensor)).item() for named in answer.response.tensor]


def graph() -> Graph:
    with v1.Graph().as_default() as made:
        total = v1.Variable(np.int64(0), name="total")
        v1.identity(total.assign_add(np.int64(1)), name="add")
        v1.group(total.initializer, name="init")
        queue = v1.FIFOQueue(1, "int64")
        v1.identity(queue.dequeue(), name="taken")
        v1.group(queue.enqueue(np.int64(7)), name="put")
    return made


def test_each_step_runs_once_and_sees_what_the_last_one_left(arm: Arm) -> None:
    client = Client(arm, graph())
    assert client.run(targets=("init",)) == []
    assert [client.run("add:0") for _ in range(20)] == [[i] for i in range(1, 21)]


def test_a_failed_step_says_where_and_leaves_no_mark(arm: Arm) -> None:
    client = Client(arm, graph())
    error = client.run("add:0")
    assert error.code is Code.FAILED_PRECONDITION
    assert "From /job:local/replica:0/task:0" in error.message
    client.run(targets=("init",))
    assert client.run("add:0") == [1]


def test_a_step_that_waits_ends_at_its_deadline_and_takes_nothing_later(arm: Arm) -> None:
    client = Client(arm, graph())
    assert client.run("taken:0", timeout_ms=100).code is Code.DEADLINE_EXCEEDED
    client.run(targets=("put",))
    assert client.run("taken:0") == [7]
