"""The HTTP server: what it answers, and everything that it does not put up with."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from contextlib import closing

import pytest

from tfsvc.errors import UnavailableError
from tfsvc_transports.http import server as http_server
from tfsvc_transports.http.server import Answer, HttpServer, Query


def _broken(_: Query) -> Answer:
    raise ZeroDivisionError


PAGES = {
    "/": lambda query: Answer(f"hello {query.values.get('name', '')}{query.number('n', 7)}".encode()),
    "/long": lambda _: Answer(b"x" * 10_000),
    "/broken": _broken,
}


@pytest.fixture
def server():
    made = HttpServer("localhost", 0, PAGES, names=("dispatcher.cluster.local",))
    yield made
    made.close()


def ask(server, path="/", method="GET", **headers):
    with closing(http.client.HTTPConnection("localhost", server.port, timeout=10)) as connection:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers


def raw(server, text):
    """All that comes back for these bytes."""
    with socket.create_connection(("localhost", server.port), timeout=10) as connection:
        connection.sendall(text)
        found = b""
        while more := connection.recv(65536):
            found += more
        return found


def test_pages_get_what_was_asked(server):
    assert ask(server)[:2] == (200, b"hello 7")
    assert ask(server, "/?name=a&name=b&n=12")[:2] == (200, b"hello b12")
    assert ask(server, "/?n=-3")[1] == ask(server, "/?n=abc")[1] == b"hello 7"
    status, body, headers = ask(server, method="HEAD")
    assert (status, body, headers["Content-Length"]) == (200, b"", "7")


def test_what_is_not_there_is_told_with_what_is(server):
    status, body, _ = ask(server, "/metric")
    assert status == 404
    assert b"/long" in body


def test_a_page_that_fails_says_so_without_its_insides(server, caplog):
    status, body, _ = ask(server, "/broken")
    assert status == 500
    assert b"ZeroDivision" not in body
    assert "ZeroDivision" in caplog.text


def test_nothing_but_looking_is_allowed(server):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
        status, _, headers = ask(server, method=method)
        assert status == 501
        assert "Access-Control-Allow-Origin" not in headers


def test_no_other_site_can_read_it(server):
    headers = ask(server, Origin="http://elsewhere.example")[2]
    assert "Access-Control-Allow-Origin" not in headers
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:80",
        "127.0.0.1:1",
        "[::1]:9",
        "10.1.2.3",
        socket.gethostname(),
        "dispatcher.cluster.local",
    ],
)
def test_it_answers_to_its_names(server, host):
    assert ask(server, Host=host)[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "", "[", "@localhost@x"]
)
def test_a_strangers_name_that_points_here_reads_nothing(server, host):
    status, body, _ = ask(server, Host=host)
    assert status == 421
    assert b"hello" not in body


def test_a_request_names_one_host(server):
    assert b" 421 " in raw(server, b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
    assert b" 421 " in raw(server, b"GET / HTTP/1.1\r\n\r\n")
    assert b" 200 " in raw(server, b"GET / HTTP/1.0\r\n\r\n"), "before HTTP/1.1 there was no Host; no browser is so old"


@pytest.mark.parametrize(
    "text",
    [
        b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 3000 + b"\r\n",
    ],
)
def test_a_request_without_end_is_refused(server, text):
    assert raw(server, text).startswith(b"HTTP/1.0 431 ")
    assert ask(server)[0] == 200


@pytest.mark.parametrize(
    "text", [b"\x16\x03\x01\x02\x00\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n"]
)
def test_what_is_no_request_ends_the_connection(server, text):
    assert b"hello" not in raw(server, text)
    assert ask(server)[0] == 200


def test_a_request_that_trickles_is_given_up(server, monkeypatch):
    monkeypatch.setattr(http_server, "REQUEST_S", 0.4)
    with socket.create_connection(("localhost", server.port), timeout=10) as connection:
        began = time.monotonic()
        connection.settimeout(0.05)
        found = None
        while found is None and time.monotonic() < began + 8:
            try:
                connection.sendall(b"G")
                found = connection.recv(100)
            except TimeoutError:
                continue
            except OSError:
                break
        assert not found
        assert time.monotonic() < began + 6


def test_slow_askers_do_not_lock_others_out_for_long(server, monkeypatch):
    monkeypatch.setattr(http_server, "REQUEST_S", 1.0)
    slow = [socket.create_connection(("localhost", server.port)) for _ in range(http_server.REQUESTS_MAX)]
    for connection in slow:
        connection.sendall(b"GET / HT")
    deadline = time.monotonic() + 5
    while threading.active_count() < http_server.REQUESTS_MAX and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    assert ask(server)[0] == 503, "as many as are served at once are there"
    threads = threading.active_count()
    more = [socket.create_connection(("localhost", server.port)) for _ in range(20)]
    time.sleep(0.1)
    assert threading.active_count() <= threads, "who is turned away costs no thread"
    until = time.monotonic() + 8
    while time.monotonic() < until:
        try:
            if ask(server)[0] == 200:
                break
        except OSError:
            pass
        time.sleep(0.1)
    else:
        pytest.fail("it never answered again")
    for connection in [*slow, *more]:
        connection.close()


def test_long_answers_are_compressed_for_those_who_can_read_it(server):
    _, body, headers = ask(server, "/long", **{"Accept-Encoding": "gzip, deflate"})
    assert headers["Content-Encoding"] == "gzip"
    assert len(body) < 500
    assert len(ask(server, "/long")[1]) == 10_000


def test_a_port_is_somebody_elses_or_free_again(server):
    with pytest.raises(UnavailableError, match="another http_port"):
        HttpServer("localhost", server.port, PAGES)
    server.close()
    server.close()
    again = HttpServer("localhost", server.port, PAGES)
    try:
        assert ask(again)[0] == 200
    finally:
        again.close()
