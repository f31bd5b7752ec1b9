"""A small cluster of the real machines on each driver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.arms import ARMS, Arm, Node
from tests.conformance.probe import Probe, call
from tfsvc.data.dataset import Dataset
from tfsvc.errors import Code, RpcError
from tfsvc.execution.encoding import decode_body
from tfsvc.execution.program import define
from tfsvc.protocol import messages as m
from tfsvc.protocol.client.machine import Client
from tfsvc.protocol.client.request import ReadRequest
from tfsvc.protocol.contract import Stopped, Wanted
from tfsvc.protocol.dispatcher.machine import Dispatcher
from tfsvc.protocol.ids import MILLISECOND, Incarnation
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.reading import Batch, EndOfData, Taken
from tfsvc.protocol.settings import ClientSettings, DispatcherSettings, WorkerSettings
from tfsvc.protocol.worker.machine import Worker


class Cluster:
    """A dispatcher, workers and a dataset, on one arm."""

    def __init__(self, arm: Arm, workers: int, dataset: Dataset) -> None:
        self.arm = arm
        settings = DispatcherSettings(lease_ns_min=300 * MILLISECOND)
        self.dispatcher = arm.node(lambda name: Dispatcher(settings, name, Incarnation(1), Luck(1, "dispatcher")))
        self.workers = [self.add_worker(number) for number in range(workers)]
        operator = dataset.operator
        definition = define(operator)
        question = m.GetOrRegisterDatasetRequest(definition, dataset_id="data")
        probe = Probe(plan=[(0, [call(1, self.dispatcher.address, question)])])
        arm.node(probe.at)
        arm.until(lambda: bool(probe.answers))

    def add_worker(self, number: int) -> Node:
        return self.arm.node(
            lambda address: Worker(
                WorkerSettings(
                    address,
                    self.dispatcher.address,
                    transfer_servers=(m.DataTransferServerInfo("tfsvc", address),),
                    heartbeat_ns=50 * MILLISECOND,
                    buffer_bytes=2048,
                    frame_bytes=256,
                ),
                Incarnation(1),
                Luck(1, f"worker/{number}"),
            )
        )

    def reader(self) -> Reader:
        request = ReadRequest("data", m.ShardingPolicy.DYNAMIC)
        settings = ClientSettings(
            self.dispatcher.address, refresh_ns=50 * MILLISECOND, buffer_bytes=1024, patience_ns=100 * MILLISECOND
        )
        node = self.arm.node(lambda name: Client(request, settings, name, Incarnation(1), Luck(1, name)))
        return Reader(self.arm, node)


class Reader:
    """Takes elements one by one, as an application does."""

    def __init__(self, arm: Arm, node: Node) -> None:
        self._arm = arm
        self._node = node
        self._taken: dict[int, int] = {}

    def batches(self) -> Iterator[Batch]:
        while not isinstance(got := self._arm.request(self._node, self._want), EndOfData):
            assert isinstance(got, Batch), got
            yield got
            self._taken[got.stream] = got.frame.end
        self._arm.request(self._node, self._stop)

    def _want(self, token: int) -> Wanted:
        return Wanted(token, self._progress())

    def _stop(self, token: int) -> Stopped:
        return Stopped(token, self._progress())

    def _progress(self) -> tuple[Taken, ...]:
        return tuple(Taken(stream, ordinal) for stream, ordinal in self._taken.items())

    def elements(self) -> Iterator[Any]:
        for batch in self.batches():
            assert batch.frame.error is None, batch.frame.error
            yield from decode_body(batch.frame.body, batch.encoding, 0).elements(batch.skip)


@pytest.fixture(params=ARMS)
def arm(request: pytest.FixtureRequest) -> Iterator[Arm]:
    made = ARMS[request.param]()
    yield made
    made.close()


def test_every_element_comes_once_though_a_worker_crashes(arm: Arm) -> None:
    cluster = Cluster(arm, 2, Dataset.range(1000))
    got: list[int] = []
    for element in cluster.reader().elements():
        got.append(int(element))
        if len(got) == 500:
            cluster.workers[0].crash()
    assert sorted(got) == list(range(1000))


def test_an_error_of_user_code_comes_with_its_traceback(arm: Arm) -> None:
    def fail_at_three(value: Any) -> Any:
        if value == 3:
            raise ValueError("three is too many")
        return value

    cluster = Cluster(arm, 1, Dataset.range(6).map(fail_at_three))
    batches = list(cluster.reader().batches())
    (error,) = [batch.frame.error for batch in batches if batch.frame.error is not None]
    assert isinstance(error, RpcError)
    assert error.code is Code.INVALID_ARGUMENT
    assert "three is too many" in error.message
    assert "fail_at_three" in error.message
    values = [
        int(value)
        for batch in batches
        if batch.frame.error is None
        for value in decode_body(batch.frame.body, batch.encoding, 0).elements(batch.skip)
    ]
    assert sorted(values) == [0, 1, 2, 4, 5]
