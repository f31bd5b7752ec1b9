"""Which pages each kind of node has, and what they are made of."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from http import HTTPStatus
from typing import Any, Final

from tfsvc.errors import OpError, RpcError, to_exception
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import Snapshot
from tfsvc.protocol.messages.chronicle import GetChronicleResponse
from tfsvc.protocol.messages.description import Description
from tfsvc.protocol.worker.machine import WorkerView
from tfsvc_transports.http.server import Answer, Page, Query
from tfsvc_transports.telemetry.dispatchers import DispatcherCollector
from tfsvc_transports.telemetry.exposition import Collecting, Exposition

INQUIRE_S: Final = 5.0
"""How long a node may take to answer a question about itself; one that is stuck is not healthy."""
KEPT_S: Final = 1.0
"""How old the picture of a cluster may be."""
NOTHING_AFTER: Final = 2**62
"""No happening has a higher number."""

Inquire = Callable[[m.Request, float], m.Response | RpcError]
"""Asks the node's machine, for so many seconds at the most."""


class DispatcherPages:
    """What a dispatcher answers.

    Args:
      inquire: asks it.
      meters: what else its metrics are made of.
    """

    def __init__(self, inquire: Inquire, *meters: Collecting) -> None:
        self._inquire = inquire
        self._exposition = Exposition("dispatcher", DispatcherCollector(self._look), *meters)
        self._description = Kept(lambda: _json(self._describe()))

    def pages(self, dashboard: Page) -> Mapping[str, Page]:
        """By path; ``dashboard`` is the page at the root."""
        return {
            "/": dashboard,
            "/metrics": self._exposition.page,
            "/healthz": lambda _: _state(not isinstance(self._inquire(m.GetVersionRequest(), INQUIRE_S), RpcError)),
            "/readyz": self._ready,
            "/api/description": self._description.page,
            "/api/chronicle": lambda query: _json(self._chronicle(query.number("after"))),
        }

    def _ready(self, _: Query) -> Answer:
        try:
            return _state(not self._describe(1).stopping)
        except OpError:
            return _state(False)

    def _describe(self, rows_max: int = 0) -> Description:
        answer = _told(self._inquire(m.DescribeServiceRequest(rows_max), INQUIRE_S))
        assert isinstance(answer, m.DescribeServiceResponse), answer
        return answer.description

    def _chronicle(self, after: int) -> GetChronicleResponse:
        answer = _told(self._inquire(m.GetChronicleRequest(after), INQUIRE_S))
        assert isinstance(answer, GetChronicleResponse), answer
        return answer

    def _look(self) -> tuple[Description, GetChronicleResponse]:
        return self._describe(), self._chronicle(NOTHING_AFTER)


class Kept:
    """An answer that is made for all who ask within ``KEPT_S``: a dispatcher has better things to do.

    Args:
      make: makes it anew.
      clock: seconds.
    """

    def __init__(self, make: Callable[[], Answer], clock: Callable[[], float] = time.monotonic) -> None:
        self._make = make
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: tuple[float, Answer] | None = None

    def page(self, _: Query) -> Answer:
        with self._lock:
            now = self._clock()
            if self._kept is None or now - self._kept[0] >= KEPT_S:
                self._kept = now, self._make()
            return self._kept[1]


def worker_pages(inquire: Inquire, view: Callable[[], Snapshot], *meters: Collecting) -> Mapping[str, Page]:
    """What a worker answers: it is ready as long as its dispatcher knows it and it does not drain."""

    def ready(_: Query) -> Answer:
        seen = view()
        return _state(isinstance(seen, WorkerView) and seen.registered and not seen.draining)

    return {
        "/metrics": Exposition("worker", *meters).page,
        "/healthz": lambda _: _state(not isinstance(inquire(m.GetWorkerTasksRequest(), INQUIRE_S), RpcError)),
        "/readyz": ready,
    }


def _told(answer: m.Response | RpcError) -> m.Response:
    if isinstance(answer, RpcError):
        raise to_exception(answer)
    return answer


def _state(good: bool) -> Answer:
    return Answer(b"ok\n") if good else Answer(b"not now\n", status=HTTPStatus.SERVICE_UNAVAILABLE)


def _json(found: Description | GetChronicleResponse) -> Answer:
    return Answer(json.dumps(found, default=_fields, separators=(",", ":")).encode(), "application/json")


def _fields(value: Any) -> dict[str, Any]:
    """As ``asdict``, which copies all there is: four times the time for a thousand workers."""
    return {field.name: getattr(value, field.name) for field in fields(value)}
