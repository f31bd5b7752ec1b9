"""A small HTTP server for looking, on the standard library's parser: it answers GET and HEAD, and reads no body.

It may be left open for years on a busy machine, so every part of a request is bounded: how many there may be at once,
how many bytes one may have, and how long it may take to come and to be answered, however it trickles. A page of another
site must not read it through somebody's browser: no origin is let in, and the name that a browser believes to talk to
(``Host``) must be one of this machine's, since a stranger's name may be made to point here.
"""

from __future__ import annotations

import errno
import gzip
import ipaddress
import logging
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from typing import Any, Final, cast
from urllib.parse import parse_qs, urlsplit

from tfsvc.errors import UnavailableError
from tfsvc_transports.http.access import CHALLENGE, EVERYBODY, Access

LOG = logging.getLogger("tfsvc.http")

REQUESTS_MAX: Final = 16
"""How many requests are served at once; more are turned away."""
HEAD_BYTES_MAX: Final = 8192
"""How long a request may be, without the body that it must not have."""
REQUEST_S: Final = 5.0
"""How long a request may take to come."""
ANSWER_S: Final = 15.0
"""How long an answer may take to be taken."""
BACKLOG: Final = 32
"""How many connections may wait to be taken."""
GZIP_BYTES: Final = 4096
"""From how many bytes on an answer is compressed for those who say that they can read it."""

HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Of every answer."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked for beside the path.

    Attributes:
      values: the query's parameters, each with its last value.
      accept: the media types that the asker prefers, as it says it.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    accept: str = ""

    def number(self, name: str, default: int = 0) -> int:
        """A parameter that is a whole number; ``default`` where it is not given, or is none."""
        text = self.values.get(name, "")
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else default


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered: a body of a media type, and headers that replace those of ``HEADERS``."""

    body: bytes
    media_type: str = "text/plain; charset=utf-8"
    status: HTTPStatus = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)


Page = Callable[[Query], Answer]
"""Makes the answer for a path; it is called on a thread of the server, by several at once."""


class HttpServer:
    """A bound port that answers for as long as it is open.

    Args:
      host: the interface.
      port: the port; 0 for a free one.
      pages: by path.
      names: by which names, beside this machine's and addresses, it may be asked for.
      access: what is asked of those who look; nothing when not given.

    Raises:
      UnavailableError: if the address cannot be had.
    """

    def __init__(
        self,
        host: str,
        port: int,
        pages: Mapping[str, Page],
        names: tuple[str, ...] = (),
        access: Access = EVERYBODY,
    ) -> None:
        self.pages = pages
        self.access = access
        self.names = frozenset(name.lower() for name in ("localhost", socket.gethostname(), host.strip("[]"), *names))
        self._free = threading.BoundedSemaphore(REQUESTS_MAX)
        self._closing = threading.Lock()
        self._closed = False
        try:
            self._listener = _bind(host.strip("[]"), port)
        except OSError as error:
            raise UnavailableError(
                message=f"cannot serve HTTP at {host}:{port}: {error}. Choose another http_port, or 0 for any free one."
            ) from error
        self.port: int = self._listener.getsockname()[1]
        self._alarm, self._bell = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._alarm, selectors.EVENT_READ)
        threading.Thread(target=self._take_all, name="tfsvc-http", daemon=True).start()

    def close(self) -> None:
        """Frees the port before it returns; what is being answered is answered. Safe to repeat."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._listener.close()
                self._bell.close()

    def _take_all(self) -> None:
        with self._selector as selector, self._alarm:
            while not self._closed:
                selector.select()
                try:
                    connection, address = self._listener.accept()
                except OSError:  # closed, or who came has gone again; where no descriptors are left, one may be soon
                    time.sleep(0.01)
                    continue
                self._take(connection, address)

    def _take(self, connection: socket.socket, address: Any) -> None:
        if not self._free.acquire(blocking=False):
            _turn_away(connection)
            return
        try:
            threading.Thread(
                target=self._serve, args=(connection, address), name="tfsvc-http-request", daemon=True
            ).start()
        except RuntimeError:  # no more threads are to be had
            self._free.release()
            connection.close()

    def _serve(self, connection: socket.socket, address: Any) -> None:
        try:
            with connection, self._secured(connection) as secured:
                _Request(secured, address, cast(Any, self))
                secured.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the asker has gone, or was too slow
        except Exception:
            LOG.exception("a request could not be served")
        finally:
            self._free.release()

    def _secured(self, connection: socket.socket) -> socket.socket:
        if self.access.tls is None:
            return connection
        connection.settimeout(REQUEST_S)
        return self.access.tls().wrap_socket(connection, server_side=True)


def _bind(host: str, port: int) -> socket.socket:
    """IPv4 first where a name has both: browsers and scrapers try both.

    Raises:
      OSError: if the address cannot be had.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    listener = socket.create_server(address[:2], family=family, backlog=BACKLOG)
    listener.setblocking(False)
    return listener


def _turn_away(connection: socket.socket) -> None:
    """Says that there are too many, to whoever can hear it at once."""
    with suppress(OSError), connection:
        connection.settimeout(0)
        connection.send(b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n")


def _read_head(connection: socket.socket) -> bytes | None:
    """A request up to its empty line; ``None`` where it is too long. The rest, if there is any, stays unread.

    Raises:
      OSError: if it does not come in time.
    """
    head = b""
    until = time.monotonic() + REQUEST_S
    while b"\r\n\r\n" not in head and b"\n\n" not in head:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError(errno.ETIMEDOUT, "the request did not come in time")
        connection.settimeout(left)
        more = connection.recv(HEAD_BYTES_MAX)
        if not more:
            raise ConnectionResetError(errno.ECONNRESET, "the asker has gone")
        head += more
        if len(head) > HEAD_BYTES_MAX:
            return None
    return head


class _Request(BaseHTTPRequestHandler):
    """One request of a connection, which is closed behind it."""

    server: HttpServer  # type: ignore[assignment]
    server_version = "tfsvc"
    sys_version = ""

    def setup(self) -> None:
        self.connection = self.request
        self.wfile = self._said = BytesIO()
        self.close_connection = True

    def handle(self) -> None:
        head = _read_head(self.connection)
        self.rfile = BytesIO(head or b"")
        if head is None:
            self.raw_requestline, self.requestline, self.request_version, self.command = b"", "", "HTTP/1.0", ""
            self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        else:
            self.handle_one_request()
        self.connection.settimeout(ANSWER_S)
        self.connection.sendall(self._said.getvalue())

    def finish(self) -> None:
        pass  # nothing is left in a buffer

    def do_GET(self) -> None:
        self._give(self._answer())

    def do_HEAD(self) -> None:
        self._give(self._answer(), with_body=False)

    def _answer(self) -> Answer:
        if not self._is_for_us():
            return _plain(HTTPStatus.MISDIRECTED_REQUEST, "this is not the host you think it is")
        asked = urlsplit(self.path)
        certificate = isinstance(self.connection, ssl.SSLSocket) and bool(self.connection.getpeercert())
        if not self.server.access.lets_in(asked.path, self.headers.get_all("Authorization", []), certificate):
            refusal = _plain(HTTPStatus.UNAUTHORIZED, "show the token of this service, or its certificate")
            return replace(refusal, headers={"WWW-Authenticate": CHALLENGE})
        page = self.server.pages.get(asked.path)
        if page is None:
            paths = "\n".join(self.server.pages)
            return _plain(HTTPStatus.NOT_FOUND, f"there is no such page; there are\n{paths}")
        values = {name: found[-1] for name, found in parse_qs(asked.query, max_num_fields=16).items()}
        try:
            return page(Query(values, self.headers.get("Accept", "")))
        except Exception:
            LOG.exception("%s could not be made", asked.path)
            return _plain(HTTPStatus.INTERNAL_SERVER_ERROR, "the page could not be made; the log shows why")

    def _is_for_us(self) -> bool:
        """Whether the asker means this machine: an address cannot be a stranger's name for it."""
        said = self.headers.get_all("Host", [])
        if len(said) != 1:
            return not said and self.request_version == "HTTP/1.0"
        try:
            name = urlsplit(f"//{said[0]}").hostname or ""
        except ValueError:
            return False
        if name.rstrip(".") in self.server.names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _give(self, answer: Answer, with_body: bool = True) -> None:
        body = answer.body
        self.send_response(answer.status)
        headers = {**HEADERS, **answer.headers, "Content-Type": answer.media_type, "Vary": "Accept-Encoding"}
        if len(body) >= GZIP_BYTES and "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, compresslevel=1)
            headers["Content-Encoding"] = "gzip"
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A refusal of the parser's; none of the request is repeated in it."""
        if not hasattr(self, "headers"):
            self.headers = self.MessageClass()
        self._give(_plain(HTTPStatus(code), HTTPStatus(code).phrase), with_body=True)

    def log_message(self, format: str, *args: Any) -> None:
        LOG.debug("%s %s", self.address_string(), format % args)


def _plain(status: HTTPStatus, text: str) -> Answer:
    return Answer(f"{text}\n".encode(), status=status)
