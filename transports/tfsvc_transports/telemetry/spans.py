"""Spans for OpenTelemetry: calls served and made, runs of pipelines, and waits of applications.

Off unless the environment asks for them; needs ``tfsvc[otel]``. They go to the tracer provider that the process has set
up, by code or by ``opentelemetry-instrument``, which also decides how many are kept. A span says what it is about by
the ids that logs and metrics have. A machine is told of things one by one, in no thread or context of the
application's, so spans of different nodes are held together by these ids alone.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tfsvc.errors import RpcError
from tfsvc.protocol.contract import (
    Answered,
    Asked,
    Call,
    Cancelled,
    Command,
    Event,
    Failed,
    Finish,
    Produce,
    Produced,
    Reply,
    Wanted,
)
from tfsvc.protocol.ids import Instant
from tfsvc.protocol.production import Broken
from tfsvc.protocol.reading import Batch

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

LOG = logging.getLogger("tfsvc")

VARIABLE: Final = "TFSVC_OTEL"
"""Set to 1, all nodes of a process make spans."""
OPEN_MAX: Final = 10_000
"""How many spans may be open; the oldest are given up, since some calls are never answered."""
_IDS: Final = {
    "job_name": "tfsvc.job",
    "dataset_id": "tfsvc.dataset",
    "iteration_id": "tfsvc.iteration",
    "task_id": "tfsvc.task",
    "lane_id": "tfsvc.lane",
    "attempt": "tfsvc.attempt",
    "client_id": "tfsvc.reader",
    "iteration_client_id": "tfsvc.reader",
    "worker_address": "tfsvc.worker",
}
"""Fields of requests that are ids, and the attributes that they become."""


def watchers(role: str) -> tuple[SpanWatcher, ...]:
    """What makes spans of a node, if the environment asks for it."""
    if os.environ.get(VARIABLE, "") in ("", "0"):
        return ()
    try:
        from opentelemetry import trace
    except ImportError:
        LOG.warning("%s is set, but OpenTelemetry is not installed: pip install 'tfsvc[otel]'", VARIABLE)
        return ()
    return (SpanWatcher(role, trace.get_tracer("tfsvc")),)


class SpanWatcher:
    """A watcher of one node.

    Args:
      role: of the node.
      tracer: takes the spans.
      clock: nanoseconds since 1970.
    """

    def __init__(self, role: str, tracer: Tracer, clock: Callable[[], int] = time.time_ns) -> None:
        self._role = role
        self._tracer = tracer
        self._clock = clock
        self._open: dict[object, Any] = {}

    def saw(self, now: Instant, event: Event, commands: Sequence[Command]) -> None:
        match event:
            case Asked(call, _, request):
                self._begin(("served", call), f"serve {_method(request)}", "SERVER", _ids(request))
            case Cancelled(call):
                self._end(("served", call), {}, "CANCELLED")
            case Answered(call):
                self._end(("made", call))
            case Failed(call, error):
                self._end(("made", call), {}, error.code.name)
            case Produced(producer, production):
                status = production.status
                told = {
                    "tfsvc.elements": sum(frame.count for frame in production.frames) + production.written,
                    "tfsvc.bytes": sum(len(frame.body) for frame in production.frames),
                    "tfsvc.spent_ns": production.spent_ns,
                }
                self._end(("produce", producer), told, status.error.code.name if isinstance(status, Broken) else "")
            case Wanted(token):
                self._begin(("wait", token), "wait", "INTERNAL", {})
            case _:
                pass
        for command in commands:
            match command:
                case Call(call, peer, request):
                    self._begin(
                        ("made", call), f"call {_method(request)}", "CLIENT", {**_ids(request), "server.address": peer}
                    )
                case Reply(call, answer):
                    self._end(("served", call), {}, answer.code.name if isinstance(answer, RpcError) else "")
                case Produce(producer):
                    self._begin(("produce", producer), "produce", "INTERNAL", {"tfsvc.pipeline": producer})
                case Finish(token, result):
                    self._end(("wait", token), _batch(result), result.code.name if isinstance(result, RpcError) else "")
                case _:
                    pass

    def _begin(self, key: object, name: str, kind: str, attributes: dict[str, Any]) -> None:
        from opentelemetry.trace import SpanKind

        self._open[key] = self._tracer.start_span(
            f"tfsvc {name}",
            kind=SpanKind[kind],
            attributes={"tfsvc.role": self._role, **attributes},
            start_time=self._clock(),
        )
        if len(self._open) > OPEN_MAX:
            del self._open[next(iter(self._open))]

    def _end(self, key: object, attributes: dict[str, Any] | None = None, error: str = "") -> None:
        from opentelemetry.trace import StatusCode

        span = self._open.pop(key, None)
        if span is None:
            return
        span.set_attributes(attributes or {})
        if error:
            span.set_status(StatusCode.ERROR, error)
        span.end(end_time=self._clock())


def _batch(result: object) -> dict[str, Any]:
    return {"tfsvc.elements": result.count, "tfsvc.worker": result.worker} if isinstance(result, Batch) else {}


def _method(request: object) -> str:
    return type(request).__name__.removesuffix("Request")


def _ids(request: object) -> dict[str, Any]:
    found = ((attribute, getattr(request, field, None)) for field, attribute in _IDS.items())
    return {"rpc.method": _method(request), **{name: value for name, value in found if value}}
