"""Small clusters for scripts that tests run in processes of their own."""

from __future__ import annotations

from typing import Any

from tfsvc.data.dataset import Dataset
from tfsvc.execution.program import define
from tfsvc.protocol import messages as m
from tfsvc.protocol.client.request import ReadRequest
from tfsvc.protocol.ids import SECOND
from tfsvc.protocol.settings import ClientSettings, DispatcherSettings, WorkerSettings
from tfsvc_transports import backends
from tfsvc_transports.nodes import ReaderNode


class Cluster:
    """A dispatcher and a worker of this process on gRPC, with one dataset."""

    def __init__(self, dataset: Dataset) -> None:
        nodes = backends.grpc()
        self.dispatcher = nodes.start_dispatcher("localhost", 0, DispatcherSettings())
        self.address = f"localhost:{self.dispatcher.port}"
        servers = (m.DataTransferServerInfo("tfsvc", "localhost:%port%"),)
        settings = WorkerSettings("localhost:%port%", self.address, transfer_servers=servers)
        self.worker = nodes.start_worker("localhost", 0, settings)
        operator = dataset.operator
        definition = define(operator)
        made: Any = nodes.ask(self.address, m.GetOrRegisterDatasetRequest(definition), 10 * SECOND)
        self.dataset_id: str = made.dataset_id

    def stop(self) -> None:
        self.worker.stop()
        self.dispatcher.stop()


def open_reader(address: str, dataset_id: str) -> ReaderNode:
    """A reader of the whole dataset from every worker."""
    return backends.grpc().open_reader(ReadRequest(dataset_id, m.ShardingPolicy.OFF), ClientSettings(address))
