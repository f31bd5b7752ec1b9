"""Measuring real nodes, and answering HTTP for them."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import Final

from tfsvc.errors import OpError
from tfsvc.protocol.worker.machine import WorkerView
from tfsvc.service.backend import HttpAddress
from tfsvc.service.security import Security
from tfsvc_transports.dashboard.page import live
from tfsvc_transports.driver import Driver
from tfsvc_transports.http.access import access_of
from tfsvc_transports.http.endpoints import DispatcherPages, worker_pages
from tfsvc_transports.http.server import HttpServer, Page
from tfsvc_transports.telemetry import spans
from tfsvc_transports.telemetry.exposition import Exposition
from tfsvc_transports.telemetry.journals import JournalMeter
from tfsvc_transports.telemetry.readers import BOOK, Watched
from tfsvc_transports.telemetry.rpcs import RpcMeter
from tfsvc_transports.telemetry.watching import Watcher
from tfsvc_transports.telemetry.workers import WorkerMeter

LOG = logging.getLogger("tfsvc")

METRICS_PORT: Final = "TFSVC_METRICS_PORT"
"""The variable of the environment that has the readers of a process answer HTTP."""


NAMES: Final = "TFSVC_HTTP_NAMES"
"""The variable with further names of this machine, by which browsers may ask for it; with commas between them."""


class _Telemetry:
    """What is measured of a node in any case, and what only where it answers HTTP."""

    def __init__(self, role: str, *watchers: Watcher) -> None:
        self._role = role
        self._watchers = watchers

    def watchers(self, http: HttpAddress | None) -> tuple[Watcher, ...]:
        """What the node is watched by."""
        return (*spans.watchers(self._role), *(self._watchers if http is not None else ()))


class DispatcherTelemetry(_Telemetry):
    """What is measured of a dispatcher.

    Args:
      work_dir: where its journal lies, if it has one.
    """

    def __init__(self, work_dir: str | None) -> None:
        self._rpcs = RpcMeter("dispatcher")
        self._journal = JournalMeter(work_dir)
        super().__init__("dispatcher", self._rpcs, self._journal)

    def serve(self, driver: Driver, http: HttpAddress | None, security: Security | None) -> int | None:
        """Answers HTTP until the node ends, if it is to; the port.

        Raises:
          UnavailableError: if the address cannot be had.
          InvalidArgumentError: if what ``security`` names cannot be used.
        """
        if http is None:
            return None
        pages = DispatcherPages(driver.inquire, self._rpcs, self._journal).pages(live)
        return _attach(driver, _server(http, pages, security))


class WorkerTelemetry(_Telemetry):
    """What is measured of a worker."""

    def __init__(self) -> None:
        self._rpcs = RpcMeter("worker")
        self._driver: Driver | None = None
        self._meter = WorkerMeter(self._view, self._rpcs, time.monotonic_ns)
        super().__init__("worker", self._rpcs, self._meter)

    def _view(self) -> WorkerView:
        assert self._driver is not None
        view = self._driver.view()
        assert isinstance(view, WorkerView), view
        return view

    def serve(self, driver: Driver, http: HttpAddress | None, security: Security | None) -> int | None:
        """Answers HTTP until the node ends, if it is to; the port.

        Raises:
          UnavailableError: if the address cannot be had.
          InvalidArgumentError: if what ``security`` names cannot be used.
        """
        self._driver = driver
        if http is None:
            return None
        pages = worker_pages(driver.inquire, driver.view, self._rpcs, self._meter)
        return _attach(driver, _server(http, pages, security))


def reader_metrics() -> str:
    """The metrics of all readers of this process, and of the process, as Prometheus's text."""
    return _READERS.text()[0].decode()


def serve_reader_metrics(http: HttpAddress, security: Security | None) -> HttpServer:
    """Answers HTTP for them.

    Raises:
      UnavailableError: if the address cannot be had.
      InvalidArgumentError: if what ``security`` names cannot be used.
    """
    return _server(http, {"/metrics": _READERS.page}, security)


def _attach(driver: Driver, server: HttpServer) -> int:
    """Lets a server end with its node; its port."""
    driver.attach(server.close)
    return server.port


def _server(http: HttpAddress, pages: Mapping[str, Page], security: Security | None) -> HttpServer:
    names = tuple(name.strip() for name in os.environ.get(NAMES, "").split(",") if name.strip())
    return HttpServer(http.host, http.port, pages, names, access_of(security or Security()))


def reader_watchers(watched: Watched) -> tuple[Watcher, ...]:
    """What a reader is watched by."""
    return (watched, *spans.watchers("reader"))


def keep_book(watched: Watched, driver: Driver) -> None:
    """Counts a reader that has begun, and has its process answer HTTP if the environment asks for that."""
    BOOK.enter(watched, driver.view)
    driver.attach(partial(BOOK.leave, watched))
    _answer_if_asked()


_READERS: Final = Exposition("reader", BOOK)
_asked = threading.Lock()


def _answer_if_asked() -> None:
    port = os.environ.get(METRICS_PORT, "")
    if not port or not _asked.acquire(blocking=False):  # held for ever: once for a process
        return
    try:
        server = serve_reader_metrics(HttpAddress("localhost", int(port)), None)
    except (OpError, ValueError, OverflowError) as error:
        LOG.warning("%s=%s: the metrics of this process's readers are not served: %s", METRICS_PORT, port, error)
    else:
        LOG.info("metrics of this process's readers at http://localhost:%d/metrics", server.port)
