"""Reads that wait: asked for elements that are not there yet, answered soon or answered empty."""

from __future__ import annotations

from collections.abc import Callable

from tfsvc.errors import RpcError
from tfsvc.protocol.ids import NEVER, CallId, Instant
from tfsvc.protocol.messages import GetFramesRequest, GetFramesResponse
from tfsvc.protocol.worker.desk import Desk
from tfsvc.record import record


@record
class _Held:
    call: CallId
    request: GetFramesRequest
    until: Instant


Serve = Callable[[GetFramesRequest], GetFramesResponse | None]
"""The answer to a read, or ``None`` while there is nothing to say."""


class Reads:
    """The held reads of one stream.

    Args:
      serve: answers a read if it can.
    """

    def __init__(self, desk: Desk, serve: Serve) -> None:
        self._desk = desk
        self._serve = serve
        self._held: list[_Held] = []
        """Oldest first, and so the first to be answered empty."""

    def add(self, call: CallId, request: GetFramesRequest) -> None:
        answer = self._serve(request)
        if answer is not None:
            self._desk.reply(call, answer)
        elif request.bytes_max == 0:
            self._desk.reply(call, GetFramesResponse())
        else:
            self._held.append(_Held(call, request, self._desk.now + self._desk.settings.hold_ns))
            self._desk.alarms.set(self)

    def retry(self) -> None:
        """Something changed: answers what can be answered now."""
        held, self._held = self._held, []
        for read in held:
            answer = self._serve(read.request)
            if answer is None:
                self._held.append(read)
            else:
                self._desk.reply(read.call, answer)

    def refuse(self, error: RpcError) -> None:
        for read in self._held:
            self._desk.reply(read.call, error)
        self._held.clear()

    def deadline(self) -> Instant:
        return self._held[0].until if self._held else NEVER

    def wake(self) -> None:
        """Answers empty what was held long enough, so that readers see that the worker lives."""
        for read in [read for read in self._held if read.until <= self._desk.now]:
            self._held.remove(read)
            self._desk.reply(read.call, GetFramesResponse())
