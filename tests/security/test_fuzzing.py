"""Every call of every server takes anything: it is answered by a typed status soon, and the server goes on."""

from __future__ import annotations

import logging
import resource
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import tfsvc as tf
from tests.security.absurd import absurd, exchange
from tests.security.conftest import Servers, rpc, service, start_all
from tfsvc.protocol import messages as m
from tfsvc.service.security import Security
from tfsvc.wire.messages import METHODS, Method, schema
from tfsvc_transports.grpc import transport

NONE = Security("", "", "", "")
CALLS = tuple(method for kind, method in METHODS.items() if kind is not m.StopServiceRequest)
"""All but the one that ends the service whatever it holds."""
KINDS = {
    "dispatcher": ("Dispatcher",),
    "worker": ("data.Worker", "tfsvc.Worker"),
    "rpc": ("rpc.Rpc", "tfsvc.Rpc"),
    "cluster": ("tensorflow.Master", "tensorflow.Worker"),
}
PATIENCE_S = 0.5
UNTYPED = (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)
MORE_BYTES_MAX = 512 << 20


class Target:
    """Servers, channels to them, and real requests to start from."""

    def __init__(self, servers: Servers, folder: str, real: list[tuple[str, str, bytes]]) -> None:
        self.servers = servers
        self.folder = folder
        self.real = real
        self.channels = {kind: grpc.insecure_channel(address) for kind, address in servers.addresses.items()}

    def send(self, kind: str, path: str, data: bytes) -> None:
        """Sends a request; whatever it is, its answer is one that was meant."""
        call = self.channels[kind].unary_unary(path, None, None).future(data, timeout=PATIENCE_S)
        assert call.code() not in UNTYPED, (path, call.details())


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("fuzzed")
    heard = Heard()
    logging.getLogger().addHandler(heard)
    with ExitStack() as stack:
        servers = start_all(stack, NONE, str(folder / "journal"))
        made = Target(servers, str(folder), record(servers, folder))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        yield made
        servers.still_serve()
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    logging.getLogger().removeHandler(heard)
    assert grown < MORE_BYTES_MAX
    assert not heard.broken


class Heard(logging.Handler):
    """What nodes say of errors of their own."""

    def __init__(self) -> None:
        super().__init__(logging.CRITICAL)
        self.broken: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.broken.append(record.getMessage())


def record(servers: Servers, folder: Path) -> list[tuple[str, str, bytes]]:
    """The requests of nodes that do what they are for: which kind of server got them, by which call."""
    found: dict[tuple[str, str, bytes], None] = {}
    kinds = {address: kind for kind, address in servers.addresses.items()}
    call = transport.GrpcTransport.call

    def listen(self: Any, peer: Any, request: Any, timeout_ns: int, done: Any) -> None:
        if peer in kinds and not isinstance(request, m.StopServiceRequest):
            found[kinds[peer], METHODS[type(request)].path, transport.encode(request)] = None
        call(self, peer, request, timeout_ns, done)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transport.GrpcTransport, "call", listen)
        use(servers, folder)
    return list(found)


def use(servers: Servers, folder: Path) -> None:
    ten = tf.data.Dataset.range(10).map(lambda x: x + 1).batch(2)
    for mode, more in (
        ("distributed_epoch", {}),
        ("parallel_epochs", {"job_name": "shared"}),
        ("distributed_epoch", {"deterministic": True, "lanes": 2}),
    ):
        read = service.distribute(mode, servers.target(), security=NONE, data_transfer_protocol="grpc", **more)
        assert sum(map(len, ten.apply(read))) == 10
    tf.data.experimental.distributed_save(ten, str(folder / "saved"), servers.target(), security=NONE)
    assert service.describe(servers.target(), security=NONE).census.workers == 1
    with rpc.Client.create("grpc", servers.addresses["rpc"], retry=True, security=NONE) as client:
        assert int(client.count_blocking(np.int32(1))) == 1
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session(f"grpc://{servers.addresses['cluster']}", security=NONE) as session:
        total = v1.Variable(0.0)
        session.run(total.initializer)
        session.run(v1.assign_add(total, v1.placeholder_with_default(1.0, [])), {})
        session.list_devices()


def test_the_real_requests_are_of_every_kind(target: Target) -> None:
    assert {kind for kind, _, _ in target.real} == set(KINDS)
    assert len({path for _, path, _ in target.real}) > 15


def calls_of(kind: str) -> list[Method]:
    return [call for call in CALLS if any(part in call.path for part in KINDS[kind])]


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_any_bytes(target: Target, kind: str, data: st.DataObject) -> None:
    call = data.draw(st.sampled_from(calls_of(kind)))
    target.send(kind, call.path, data.draw(st.binary(max_size=200)))


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_any_values(target: Target, kind: str, data: st.DataObject) -> None:
    call = data.draw(st.sampled_from(calls_of(kind)))
    message = absurd(data.draw, schema(call.request), target.folder)
    note(f"{call.path}\n{message}")
    target.send(kind, call.path, message.SerializeToString())


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_real_requests_with_other_values(target: Target, kind: str, data: st.DataObject) -> None:
    known = [(path, said) for to, path, said in target.real if to == kind]
    path, said = data.draw(st.sampled_from(known))
    request = next(call.request for call in CALLS if call.path == path)
    message = schema(request).FromString(said)
    exchange(data.draw, message, target.folder)
    note(f"{path}\n{message}")
    target.send(kind, path, message.SerializeToString())


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_real_requests_cut_or_with_other_bytes(target: Target, kind: str, data: st.DataObject) -> None:
    known = [(path, said) for to, path, said in target.real if to == kind and said]
    path, said = data.draw(st.sampled_from(known))
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(said))] * 2)))
    target.send(kind, path, said[:start] + data.draw(st.binary(max_size=20)) + said[end:])
