"""Every kind of server on gRPC, guarded alike, and who may ask them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import grpc
import pytest

import tfsvc as tf
from tests.security.authorities import authority, token_file
from tfsvc.protocol import messages as m
from tfsvc.protocol.messages import Request, cluster
from tfsvc.service.security import Security
from tfsvc.wire.messages import METHODS, encode

service = tf.data.experimental.service
rpc = tf.distribute.experimental.rpc

PROBES: dict[str, Request] = {
    "dispatcher": m.GetWorkersRequest(),
    "worker": m.GetWorkerTasksRequest(),
    "rpc": m.ListRequest(),
    "cluster": cluster.GetStatusRequest(),
}
"""A question that every server of a kind answers."""


@dataclass(frozen=True)
class Servers:
    """One server of each kind, with their addresses by kind."""

    addresses: dict[str, str]
    security: Security
    counted: list[int]

    def target(self) -> str:
        return f"grpc://{self.addresses['dispatcher']}"

    def still_serve(self) -> None:
        """Asks each of them what it always answers, and reads a dataset."""
        for kind, address in self.addresses.items():
            service_of(address, self.security).ask(PROBES[kind], 20 * 10**9)
        read = service.distribute("distributed_epoch", self.target(), security=self.security)
        assert sorted(int(value) for value in tf.data.Dataset.range(5).apply(read)) == [0, 1, 2, 3, 4]


def service_of(address: str, security: Security) -> Any:
    """Something that asks one server."""
    from tfsvc.service.backend import Service

    return Service("grpc", address, security)


def start_all(stack: ExitStack, security: Security, work_dir: str | None = None) -> Servers:
    """One server of each kind; with a ``work_dir`` the dispatcher keeps a journal."""
    counted: list[int] = []

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def count(x: Any) -> Any:
        counted.append(int(x))
        return x

    # In this process, also where TensorFlow is loaded: tests look at what goes on inside.
    config = service.DispatcherConfig(
        work_dir=work_dir, fault_tolerant_mode=work_dir is not None, security=security, own_process=False
    )
    dispatcher = stack.enter_context(service.DispatchServer(config))
    worker = stack.enter_context(service.WorkerServer(service.WorkerConfig(dispatcher.target, security=security)))
    caller = rpc.Server.create("grpc", "localhost:0", security=security)
    caller.register("count", count)
    stack.enter_context(caller)
    member = tf.distribute.Server({"a": ["localhost:0"]}, security=security)
    stack.enter_context(member)
    addresses = {
        "dispatcher": dispatcher.target.partition("://")[2],
        "worker": f"localhost:{worker.port}",
        "rpc": caller.address,
        "cluster": member.target.partition("://")[2],
    }
    return Servers(addresses, security, counted)


@pytest.fixture
def serve() -> Iterator[Callable[[Security], Servers]]:
    """Starts one server of each kind."""
    with ExitStack() as stack:
        yield lambda security: start_all(stack, security)


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Security]:
    """Certificates of the service and of a foreign authority, and two tokens."""
    folder: Path = tmp_path_factory.mktemp("keys")
    right, foreign = authority(folder, "right"), authority(folder, "foreign")
    token = Security("", "", "", token_file(folder, "right"))
    return {
        "none": Security("", "", "", ""),
        "mutual": right,
        "token": token,
        "other token": Security("", "", "", token_file(folder, "other")),
        "both": replace(right, token_file=token.token_file),
        "token over TLS": replace(right, token_file=token.token_file, mutual=False),
        "authority alone": replace(right, certificate_file="", key_file=""),
        "foreign": foreign,
        "foreign certificate": replace(foreign, ca_file=right.ca_file),
    }


def raw_status(
    address: str,
    request: Request | tuple[str, bytes],
    metadata: Any = (),
    timeout_s: float = 10,
) -> grpc.StatusCode:
    """How a plain gRPC client without any credentials is answered."""
    path, data = request if isinstance(request, tuple) else (METHODS[type(request)].path, encode(request))
    with grpc.insecure_channel(address) as channel:
        try:
            channel.unary_unary(path, None, None)(data, timeout=timeout_s, metadata=metadata)
        except grpc.RpcError as error:
            status: grpc.StatusCode = error.code()
            return status
    return grpc.StatusCode.OK
