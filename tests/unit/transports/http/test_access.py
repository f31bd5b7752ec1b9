"""Who may look at a node that asks for a token, or for a certificate."""

from __future__ import annotations

import base64
import http.client
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import closing, suppress

import pytest

from tests.unit.transports.http.test_server import PAGES, ask
from tfsvc_transports.http import server as http_server
from tfsvc_transports.http.access import Access
from tfsvc_transports.http.server import Answer, HttpServer

TOKEN = "a-token-of-many-letters"
HEALTH = {**PAGES, "/healthz": lambda _: Answer(b"ok")}


def basic(password, user="anybody"):
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


@pytest.fixture
def guarded():
    made = HttpServer("localhost", 0, HEALTH, access=Access(token=TOKEN))
    yield made
    made.close()


@pytest.mark.parametrize("shown", [f"Bearer {TOKEN}", f"bearer  {TOKEN}", basic(TOKEN), basic(TOKEN, user="")])
def test_the_token_opens(guarded, shown):
    assert ask(guarded, Authorization=shown)[:2] == (200, b"hello 7")


@pytest.mark.parametrize(
    "shown",
    [
        None,
        "",
        "Bearer",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        TOKEN,
        basic("wrong"),
        "Basic %%%",
        f"Digest {TOKEN}",
    ],
)
def test_nothing_else_does(guarded, shown):
    status, body, headers = ask(guarded, **({} if shown is None else {"Authorization": shown}))
    assert status == 401
    assert b"hello" not in body
    assert headers["WWW-Authenticate"].startswith("Basic ")
    assert TOKEN not in str(headers) + body.decode()


def test_what_there_is_not_is_not_told_either(guarded):
    assert ask(guarded, "/secret")[0] == 401


def test_probes_need_no_token(guarded):
    assert ask(guarded, "/healthz")[:2] == (200, b"ok")


def test_two_tokens_are_none(guarded):
    with closing(http.client.HTTPConnection("localhost", guarded.port, timeout=10)) as connection:
        connection.putrequest("GET", "/")
        for _ in range(2):
            connection.putheader("Authorization", f"Bearer {TOKEN}")
        connection.endheaders()
        assert connection.getresponse().status == 401


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """A directory with a certificate for localhost, its key, and another authority's."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl")
    folder = tmp_path_factory.mktemp("tls")
    for name in ("node", "stranger"):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2", "-subj", "/CN=localhost"]
            + ["-addext", "subjectAltName=DNS:localhost"],
            cwd=folder,
            check=True,
            capture_output=True,
        )
    return folder


def _context(folder, certificates):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(folder / "node.pem", folder / "node.key")
    made.load_verify_locations(folder / "node.pem")
    made.verify_mode = ssl.CERT_OPTIONAL if certificates else ssl.CERT_NONE
    return made


def secure(server, folder, path="/", shows=None):
    context = ssl.create_default_context(cafile=folder / "node.pem")
    if shows:
        context.load_cert_chain(folder / f"{shows}.pem", folder / f"{shows}.key")
    with closing(http.client.HTTPSConnection("localhost", server.port, timeout=10, context=context)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_an_encrypted_port(authority):
    with closing(HttpServer("localhost", 0, HEALTH, access=Access(tls=lambda: _context(authority, False)))) as server:
        assert secure(server, authority) == (200, b"hello 7")
        with socket.create_connection(("localhost", server.port), timeout=10) as plain:
            plain.sendall(b"GET / HTTP/1.0\r\n\r\n")
            with suppress(ConnectionError):
                assert b"hello" not in plain.recv(1000)


def test_a_certificate_is_asked_for_but_of_probes(authority):
    access = Access(tls=lambda: _context(authority, True), certificates=True)
    with closing(HttpServer("localhost", 0, HEALTH, access=access)) as server:
        assert secure(server, authority, shows="node") == (200, b"hello 7")
        assert secure(server, authority)[0] == 401
        assert secure(server, authority, "/healthz") == (200, b"ok")
        with pytest.raises((ssl.SSLError, ConnectionError)):
            secure(server, authority, shows="stranger")


def test_a_handshake_that_does_not_come_is_given_up(authority, monkeypatch):
    monkeypatch.setattr(http_server, "REQUEST_S", 0.3)
    with closing(HttpServer("localhost", 0, HEALTH, access=Access(tls=lambda: _context(authority, False)))) as server:
        with socket.create_connection(("localhost", server.port), timeout=10) as silent:
            began = time.monotonic()
            assert silent.recv(100) == b""
            assert time.monotonic() - began < 5
        assert secure(server, authority)[0] == 200
