"""Which pages each kind of node has, and what they are made of."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from http import HTTPStatus
from typing import Final

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

    def pages(self, dashboard: Page) -> Mapping[str, Page]:
        """By path; ``dashboard`` is the page at the root."""
        return {
            "/": dashboard,
            "/metrics": self._exposition.page,
            "/healthz": lambda _: _state(not isinstance(self._inquire(m.GetVersionRequest(), INQUIRE_S), RpcError)),
            "/readyz": self._ready,
            "/api/description": lambda query: _json(self._describe(query.number("rows"))),
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
    return Answer(json.dumps(asdict(found), separators=(",", ":")).encode(), "application/json")
