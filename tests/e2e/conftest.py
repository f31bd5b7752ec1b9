"""A small data service, and an RPC server, on gRPC within the test's process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import tfsvc as tf

service = tf.data.experimental.service


@dataclass
class Service:
    """A dispatcher and its workers."""

    dispatcher: Any
    workers: list[Any]

    @property
    def target(self) -> str:
        return str(self.dispatcher.target)

    def read(self, dataset: Any, mode: str = "distributed_epoch", **arguments: Any) -> Any:
        """The dataset as the workers make it."""
        return dataset.apply(service.distribute(mode, self.target, **arguments))


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Service]:
    with service.DispatchServer() as dispatcher:
        config = service.WorkerConfig(dispatcher_address=dispatcher.target)
        with service.WorkerServer(config) as one, service.WorkerServer(config) as two:
            yield Service(dispatcher, [one, two])


@pytest.fixture
def server() -> Iterator[Any]:
    """An RPC server that is not started."""
    made = tf.distribute.experimental.rpc.Server.create("grpc", "localhost:0")
    yield made
    made.stop()
