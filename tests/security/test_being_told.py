"""Whoever is not let in is told so at once, with what to set, and does not try on."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tfsvc as tf
from tests import soon
from tests.security.authorities import token_file
from tests.security.conftest import Servers, rpc, service, start_all
from tests.security.test_getting_in import ATTEMPTS
from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol.ids import Address
from tfsvc.service.security import Security
from tfsvc_transports.grpc import handshake

AT_ONCE_S = 10.0
"""Far less than the minute for which things are tried, and the hour for which a dispatcher is waited for."""

until = partial(soon.until, seconds=60)

GUARDED = [(guard, attempt) for guard, attempts in ATTEMPTS.items() for attempt in attempts]


@pytest.fixture(scope="module")
def guarded(keys: dict[str, Security]) -> Any:
    """Servers of each kind behind each guard, with the id of a dataset."""
    with ExitStack() as stack:
        made: dict[str, tuple[Servers, str]] = {}
        for guard in ATTEMPTS:
            servers = start_all(stack, keys[guard])
            dataset_id = service.register_dataset(servers.target(), tf.data.Dataset.range(5), security=keys[guard])
            made[guard] = servers, dataset_id
        yield made


def one_step(target: str, security: Security) -> Any:
    graph = tf.compat.v1.Graph()
    with graph.as_default():
        one = tf.compat.v1.constant(1)
    with tf.compat.v1.Session(target, graph, security=security) as session:
        return session.run(one)


@pytest.mark.parametrize(("guard", "attempt"), GUARDED)
def test_everybody_is_told_at_once_what_is_missing(
    guard: str, attempt: str, keys: dict[str, Security], guarded: Any
) -> None:
    (servers, dataset_id), stranger, dataset = guarded[guard], keys[attempt], tf.data.Dataset.range(5)
    target, spec = servers.target(), tf.TensorSpec([], tf.int64)
    tries: dict[str, Callable[[], Any]] = {
        "a new dataset": lambda: list(
            dataset.apply(service.distribute("distributed_epoch", target, security=stranger))
        ),
        "a dataset that is there": lambda: list(
            service.from_dataset_id("parallel_epochs", target, dataset_id, element_spec=spec, security=stranger)
        ),
        "a registration": lambda: service.register_dataset(target, dataset, security=stranger),
        "an RPC": lambda: rpc.Client.create("grpc", servers.addresses["rpc"], security=stranger),
    }
    tries["a session"] = lambda: one_step(f"grpc://{servers.addresses['cluster']}", stranger)
    if attempt != "authority alone":  # with which nobody can serve
        tries["a worker"] = lambda: service.WorkerServer(service.WorkerConfig(target, security=stranger))
    for name, attempt_it in tries.items():
        began = time.monotonic()
        with pytest.raises(tf.errors.UnauthenticatedError, match=ATTEMPTS[guard][attempt]):
            attempt_it()
        assert time.monotonic() - began < AT_ONCE_S, name


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "0.0.0.0"])
def test_it_does_not_matter_which_of_its_addresses_a_peer_has(host: str, keys: dict[str, Security]) -> None:
    try:
        socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError:
        pytest.skip(f"this machine has no {host}")
    guarded = replace(keys["mutual"], insecure=True)
    with service.DispatchServer(service.DispatcherConfig(host=host, security=guarded, own_process=False)) as dispatcher:
        target = f"localhost:{dispatcher.target.rpartition(':')[2]}"
        for attempt in ("none", "authority alone"):
            with pytest.raises(tf.errors.UnauthenticatedError, match=ATTEMPTS["mutual"][attempt]):
                service.register_dataset(target, tf.data.Dataset.range(5), security=keys[attempt])


def test_a_worker_that_was_there_before_its_dispatcher_says_that_it_is_not_let_in_and_ends(
    keys: dict[str, Security], tmp_path: Path
) -> None:
    with socket.create_server(("localhost", 0)) as held:
        port = held.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TFSVC_T")}
    command = [sys.executable, "-m", "tfsvc", "worker", f"localhost:{port}", "--port", "0"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdout is not None
        assert "worker on port" in worker.stdout.readline()
        with service.DispatchServer(service.DispatcherConfig(port=port, security=keys["token"], own_process=False)):
            _, errors = worker.communicate(timeout=60)
    assert worker.returncode == 1
    assert "the dispatcher does not take this worker: this service asks for a token" in errors
    assert errors.splitlines()[-1].startswith("Error: the dispatcher does not take this worker")


def test_a_worker_waits_for_a_dispatcher_that_came_back_with_another_token(
    keys: dict[str, Security], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    journal, other = str(tmp_path / "journal"), Security("", "", "", token_file(tmp_path, "new"))

    def dispatcher(port: int, security: Security) -> Any:
        return service.DispatchServer(
            service.DispatcherConfig(
                port=port, work_dir=journal, fault_tolerant_mode=True, security=security, own_process=False
            )
        )

    first = dispatcher(0, keys["token"])
    port = int(first.target.rpartition(":")[2])
    with service.WorkerServer(service.WorkerConfig(first.target, security=keys["token"])) as worker:
        first._stop()
        with dispatcher(port, other):
            until(lambda: "refuses this worker, which it took before; still trying" in caplog.text)
            assert not worker.join(0.0)
        with dispatcher(port, keys["token"]) as third:
            until(lambda: third._num_workers() == 1)
            read = service.distribute("distributed_epoch", third.target, security=keys["token"])
            assert sorted(int(value) for value in tf.data.Dataset.range(5).apply(read)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("behaviour", ["closes", "is silent", "is not there"])
def test_a_peer_of_which_nothing_is_known_is_no_refusal(
    behaviour: str, keys: dict[str, Security], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "PATIENCE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        if behaviour == "closes":
            threading.Thread(target=lambda: [server.accept()[0].close() for _ in range(3)], daemon=True).start()
        elif behaviour == "is not there":
            server.close()
        for name in ("none", "mutual", "authority alone"):
            assert handshake.refusal(address, keys[name]) is None, name
    unreached = RpcError(Code.UNAVAILABLE, "Socket closed", Outcome.UNREACHED)
    told: list[Any] = []
    handshake.examine(Address("localhost:1"), address, keys["none"], unreached, told.append)
    until(lambda: bool(told))
    assert told == [unreached]
