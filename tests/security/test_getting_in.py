"""Whoever lacks the right certificate or token is told so by every server, and nothing that they send is looked at."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

import tfsvc as tf
from tests.security.authorities import authority, issue
from tests.security.conftest import PROBES, Servers, raw_status, rpc, service, service_of
from tfsvc.protocol import messages as m
from tfsvc.service.security import Security
from tfsvc.wire.messages import METHODS

SECOND = 10**9

UNTRUSTED = "trust each other"
NO_TLS = r"speaks TLS and was asked without: name its authority, as Security\(ca_file="
NO_TLS_THERE = "does not speak TLS, and was asked with it"
NO_CERTIFICATE = r"was shown none: name yours, as Security\(certificate_file="
BAD_CERTIFICATE = r"does not take the certificate_file '.*foreign\.crt'"
NO_TOKEN = r"without\. Name the file"
WRONG_TOKEN = "with a wrong one"

ATTEMPTS = {
    "mutual": {
        "none": NO_TLS,
        "token": NO_TLS,
        "foreign": UNTRUSTED,
        "authority alone": NO_CERTIFICATE,
        "foreign certificate": BAD_CERTIFICATE,
    },
    "token": {"none": NO_TOKEN, "other token": WRONG_TOKEN, "mutual": NO_TLS_THERE, "both": NO_TLS_THERE},
    "both": {"mutual": NO_TOKEN, "token": NO_TLS, "authority alone": NO_CERTIFICATE, "foreign": UNTRUSTED},
    "token over TLS": {"authority alone": NO_TOKEN, "foreign": UNTRUSTED, "token": NO_TLS},
}


@pytest.mark.parametrize("guard", ATTEMPTS)
def test_every_server_lets_in_only_whom_it_should(guard: str, keys: dict[str, Security], serve: Any) -> None:
    servers: Servers = serve(keys[guard])
    servers.still_serve()
    for attempt, text in ATTEMPTS[guard].items():
        for server, address in servers.addresses.items():
            with pytest.raises(tf.errors.UnauthenticatedError, match=text):
                service_of(address, keys[attempt]).ask(PROBES[server], 20 * SECOND)
    servers.still_serve()


def test_over_tls_a_token_is_enough_where_certificates_are_not_asked_for(keys: dict[str, Security], serve: Any) -> None:
    servers: Servers = serve(keys["token over TLS"])
    secured = Security(keys["mutual"].ca_file, "", "", keys["token"].token_file)
    for server, address in servers.addresses.items():
        service_of(address, secured).ask(PROBES[server], 20 * SECOND)


def test_every_call_of_every_server_is_refused_without_the_token(keys: dict[str, Security], serve: Any) -> None:
    servers: Servers = serve(keys["token"])
    paths = [method.path for method in METHODS.values()]
    paths += ["/tfsvc.ChannelService/Hold", "/grpc.health.v1.Health/Check", "/nobody.Knows/This"]
    for address in servers.addresses.values():
        for path in paths:
            assert raw_status(address, (path, b"")) is grpc.StatusCode.UNAUTHENTICATED, path
    servers.still_serve()


@pytest.mark.parametrize(
    "header", ["", "Bearer ", "Basic {}", "bearer {}", "{}", "Bearer {} ", "Bearer {}x", "Bearer é"]
)
def test_a_token_is_exact(header: str, keys: dict[str, Security], serve: Any) -> None:
    servers: Servers = serve(keys["token"])
    token = keys["token"].token()
    address = servers.addresses["rpc"]
    right = ("authorization", f"Bearer {token}")
    assert raw_status(address, m.ListRequest(), (right,)) is grpc.StatusCode.OK
    wrong = ("authorization", header.format(token).encode())
    refused = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.INTERNAL)  # gRPC's own, for a header that is none
    assert raw_status(address, m.ListRequest(), (wrong,)) in refused
    assert raw_status(address, m.ListRequest(), (right, wrong)) in refused


class Bomb:
    """A pickle that leaves a file behind where it is read."""

    def __init__(self, trace: Path) -> None:
        self._trace = trace

    def __reduce__(self) -> Any:
        return Path.touch, (self._trace,)


def _bombs(trace: Path) -> list[m.Request]:
    definition = m.DatasetDef(program=pickle.dumps(Bomb(trace)))
    return [
        m.ProcessTaskRequest(m.TaskDef(definition, task_id=7)),
        m.GetOrRegisterDatasetRequest(definition, m.DataServiceMetadata(), "bomb"),
        m.CallRequest("count", (pickle.dumps(Bomb(trace)),)),
    ]


@pytest.mark.parametrize("guard", ["token", "both"])
def test_a_pickle_of_a_stranger_is_not_read(guard: str, keys: dict[str, Security], serve: Any, tmp_path: Path) -> None:
    servers: Servers = serve(keys[guard])
    trace = tmp_path / "exploded"
    for bomb in _bombs(trace):
        for address in servers.addresses.values():
            assert raw_status(address, bomb) in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.UNAVAILABLE)
    servers.still_serve()
    assert not trace.exists()


def test_the_bomb_goes_off_where_it_may(
    keys: dict[str, Security], serve: Callable[..., Servers], tmp_path: Path
) -> None:
    """Else the test above would show nothing: who has the token runs code on workers, and on nothing else."""
    servers = serve(keys["token"])
    headers = (("authorization", f"Bearer {keys['token'].token()}"),)
    trace = tmp_path / "exploded"
    for bomb in _bombs(trace):
        for kind in ("dispatcher", "rpc", "cluster"):
            raw_status(servers.addresses[kind], bomb, headers)
    assert not trace.exists()
    raw_status(servers.addresses["worker"], _bombs(trace)[0], headers)
    read = m.GetElementRequest(7)
    raw_status(servers.addresses["worker"], read, headers, 2)
    assert trace.exists()


def test_a_certificate_is_for_a_name(tmp_path: Path) -> None:
    elsewhere = authority(tmp_path, "elsewhere", "elsewhere.example")
    with (
        service.DispatchServer(service.DispatcherConfig(security=elsewhere)) as dispatcher,
        pytest.raises(tf.errors.UnauthenticatedError, match="valid for the name"),
    ):
        service.recommended_workers(dispatcher.target, security=elsewhere)


def test_a_new_certificate_is_shown_without_a_restart(tmp_path: Path) -> None:
    maker = trustme.CA()
    security = authority(tmp_path, "node", "elsewhere.example")
    maker.cert_pem.write_to_path(str(tmp_path / "node.ca"))
    with service.DispatchServer(service.DispatcherConfig(security=security)) as dispatcher:
        issue(maker, tmp_path, "node")
        assert service.recommended_workers(dispatcher.target, security=security).workers == 0
        (tmp_path / "node.key").unlink()
        trusting = Security(security.ca_file, security.certificate_file, security.key_file, "")
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"cannot read key_file='.*node\.key'"):
            service.recommended_workers(dispatcher.target, security=trusting)


def test_an_unreadable_token_file_is_fatal_for_everybody(tmp_path: Path) -> None:
    nowhere = Security(token_file=str(tmp_path / "nowhere"))
    for begin in (
        lambda: service.DispatcherConfig(security=nowhere),
        lambda: service.WorkerConfig("localhost:1", security=nowhere),
        lambda: service.distribute("parallel_epochs", "localhost:1", security=nowhere)(tf.data.Dataset.range(1)),
        lambda: service.stop_service("localhost:1", security=nowhere),
        lambda: rpc.Server.create("grpc", "localhost:0", security=nowhere),
        lambda: rpc.Client.create("grpc", "localhost:1", security=nowhere),
        lambda: tf.distribute.Server({"a": ["localhost:0"]}, security=nowhere),
        lambda: tf.compat.v1.Session("grpc://localhost:1", security=nowhere),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="cannot read token_file"):
            begin()


@pytest.mark.parametrize("wrong", ["another key", "no key", "a locked key", "no authority"])
def test_files_that_do_not_fit_together_are_named(wrong: str, tmp_path: Path) -> None:
    node, other = authority(tmp_path, "node"), authority(tmp_path, "other")
    key, named = tmp_path / "node.key", r"certificate_file='.*node\.crt' and key_file='.*node\.key' are not"
    if wrong == "another key":
        key.write_bytes((tmp_path / "other.key").read_bytes())
    elif wrong == "no key":
        key.write_text("nothing")
    elif wrong == "a locked key":
        private = load_pem_private_key(key.read_bytes(), None)
        key.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")))
    else:
        (tmp_path / "node.ca").write_text("nothing")
        named = r"ca_file='.*node\.ca' holds no certificates"
    with pytest.raises(tf.errors.InvalidArgumentError, match=named):
        service.DispatchServer(service.DispatcherConfig(security=node))
    with (
        service.DispatchServer(service.DispatcherConfig(security=other)) as dispatcher,
        pytest.raises(tf.errors.InvalidArgumentError, match=named),
    ):
        service.recommended_workers(dispatcher.target, security=node)


def test_a_token_goes_to_no_other_machine_unencrypted(keys: dict[str, Security]) -> None:
    with pytest.raises(tf.errors.UnauthenticatedError, match="unencrypted to worker7:5050"):
        service.recommended_workers("worker7:5050", security=keys["token"])
