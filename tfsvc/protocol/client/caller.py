"""A caller: asks one question until it is answered or its time is over."""

from __future__ import annotations

from typing import Final

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.calls import QUIET_NS, Backoff, Calls
from tfsvc.protocol.contract import NOTHING, Answered, Event, Failed, Finish, Note, Step, Stopped, Woke
from tfsvc.protocol.ids import NEVER, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import Request
from tfsvc.protocol.reading import Said
from tfsvc.record import record

_ADVICE: Final = "Is a dispatcher running there, and is the address right?"


@record
class CallerView:
    tries: int


class Caller:
    """A role that asks ``peer`` one ``request`` and finishes token 0 with the answer.

    Retriable failures are tried again until ``patience_ns`` has passed since the first event.
    """

    def __init__(
        self,
        name: str,
        incarnation: int,
        luck: Luck,
        peer: str,
        request: Request,
        call_timeout_ns: int,
        patience_ns: int,
    ) -> None:
        self._calls: Calls[None] = Calls(name, incarnation)
        self._backoff = Backoff(luck)
        self._peer = peer
        self._request = request
        self._call_timeout_ns = call_timeout_ns
        self._patience_ns = patience_ns
        self._give_up: Instant = NEVER
        self._next: Instant = 0
        self._tries = 0

    def handle(self, event: Event, now: Instant) -> Step:
        if self._give_up == NEVER:
            self._give_up = now + self._patience_ns
        match event:
            case Woke() if now >= self._next:
                self._next = NEVER
                self._tries += 1
                return Step(words=(self._calls.make(self._peer, self._request, None, self._call_timeout_ns),))
            case Answered(call, response) if self._calls.close(call):
                return Step(words=(Finish(0, Said(response)),))
            case Failed(call, error) if self._calls.close(call):
                if not error.retriable:
                    return Step(words=(Finish(0, error),))
                if now >= self._give_up:
                    return Step(words=(Finish(0, self._too_late(error)),))
                self._next = min(self._backoff.next(now), self._give_up)
                if now >= self._give_up - self._patience_ns + QUIET_NS:
                    text = f"{self._peer} does not answer; still trying. {_ADVICE} The last failure: {error.message}"
                    return Step(words=(Note("warning", text),))
            case Stopped(token):
                self._next = NEVER
                return Step(words=(Finish(token, None),))
            case _:
                pass
        return NOTHING

    def deadline(self) -> Instant:
        return self._next

    def view(self) -> CallerView:
        return CallerView(self._tries)

    def _too_late(self, error: RpcError) -> RpcError:
        seconds = self._patience_ns / 1e9
        return RpcError(
            Code.DEADLINE_EXCEEDED if error.code == Code.DEADLINE_EXCEEDED else error.code,
            f"{self._peer} did not answer within {seconds:g} s. {_ADVICE} The last failure: {error.message}",
        )
