"""Calls of a node, served and made: how many, how they ended, how long they took."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from prometheus_client.core import Metric

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.contract import Answered, Asked, Call, Cancelled, Command, Event, Failed, Reply
from tfsvc.protocol.ids import CallId, Instant
from tfsvc_transports.telemetry import catalogue as c

OPEN_MAX: Final = 100_000
"""How many calls under way are remembered; the oldest are forgotten, since some are never answered."""


class RpcMeter:
    """A watcher of one node, and a collector of what it saw.

    Args:
      role: of the node.
      clock: the time of its machine, which goes on while that is at an event.
    """

    def __init__(self, role: str, clock: Callable[[], Instant] = time.monotonic_ns) -> None:
        self._role = role
        self._clock = clock
        self._asked: dict[CallId, tuple[str, Instant]] = {}
        self._made: dict[CallId, str] = {}
        self._served: dict[c.Labels, int] = defaultdict(int)
        self._ended: dict[c.Labels, int] = defaultdict(int)
        self._seconds: dict[c.Labels, c.Distribution] = defaultdict(c.Distribution)

    @property
    def waiting(self) -> int:
        """How many calls wait for an answer of this node."""
        return len(self._asked)

    @property
    def made(self) -> dict[c.Labels, int]:
        """How many calls it made that have ended, by the labels of ``RPCS_MADE``."""
        return dict(self._ended)

    def saw(self, now: Instant, event: Event, commands: Sequence[Command]) -> None:
        match event:
            case Asked(call, _, request):
                self._asked[call] = (_method(request), now)
                _bound(self._asked)
            case Cancelled(call):
                self._close(call, Code.CANCELLED, now)
            case Answered(call):
                self._heard(call, Code.OK)
            case Failed(call, error):
                self._heard(call, error.code)
            case _:
                pass
        for command in commands:
            match command:
                case Reply(call, answer):
                    self._close(call, answer.code if isinstance(answer, RpcError) else Code.OK, self._clock())
                case Call(call, _, request):
                    self._made[call] = _method(request)
                    _bound(self._made)
                case _:
                    pass

    def collect(self) -> Iterable[Metric]:
        yield c.RPCS_SERVED.family(dict(self._served))
        yield c.RPC_SERVED_SECONDS.distributions(dict(self._seconds))
        yield c.RPCS_MADE.family(dict(self._ended))

    def _close(self, call: CallId, code: Code, now: Instant) -> None:
        found = self._asked.pop(call, None)
        if found is not None:
            method, since = found
            self._served[self._role, method, code.name] += 1
            self._seconds[self._role, method].observe((now - since) / 1e9)

    def _heard(self, call: CallId, code: Code) -> None:
        method = self._made.pop(call, None)
        if method is not None:
            self._ended[self._role, method, code.name] += 1


def _method(request: object) -> str:
    return type(request).__name__.removesuffix("Request")


def _bound(calls: dict[CallId, str] | dict[CallId, tuple[str, Instant]]) -> None:
    if len(calls) > OPEN_MAX:
        del calls[next(iter(calls))]
