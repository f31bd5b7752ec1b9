"""Sessions: a caller's calls, remembered so that a repeated one runs once.

A session is opened by the server, under a number that no other life of it uses. So a call that names a session which
the server does not know was never begun in this life, and is refused; only the caller knows whether it may have run
before. Within a session a call is named by its number, and is begun only if it is not known and not yet forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfsvc.protocol.ids import NEVER, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.rpc.admitted import Admitted
from tfsvc.protocol.rpc.settings import RpcServerSettings


class Session:
    """The calls of one caller.

    Attributes:
      calls: those that are remembered, by number, in the order in which they came.
      touched: when the caller was last heard.
    """

    def __init__(self, settings: RpcServerSettings, now: Instant) -> None:
        self.calls: dict[int, Admitted] = {}
        self.touched = now
        self._settings = settings
        self._floor = 0
        self._forgotten = 0
        self._bytes = 0

    def begins(self, seq: int) -> bool:
        """Whether a call that is not remembered has surely never begun."""
        return seq >= self._floor and seq > self._forgotten

    def add(self, seq: int, call: Admitted) -> None:
        """Remembers a call from now on."""
        self.calls[seq] = call
        call.session = self

    def keep(self, call: Admitted) -> None:
        """A call is answered; others are forgotten when there is too much to remember."""
        self._bytes += call.size
        settings = self._settings
        while len(self.calls) > settings.answers_max or self._bytes > settings.answer_bytes_max:
            seq = next((seq for seq, known in self.calls.items() if known.over and known is not call), None)
            if seq is None:
                break
            self._drop(seq)
            self._forgotten = max(self._forgotten, seq)

    def release(self, floor: int) -> list[Admitted]:
        """Forgets the calls before ``floor``; returns those that were not over, which nobody waits for."""
        if floor <= self._floor:
            return []
        self._floor = floor
        given_up = []
        # One that has come out of turn is forgotten a little later.
        while self.calls and (seq := next(iter(self.calls))) < floor:
            call = self._drop(seq)
            if not call.over:
                given_up.append(call)
        return given_up

    def _drop(self, seq: int) -> Admitted:
        call = self.calls.pop(seq)
        call.session = None
        self._bytes -= call.size
        return call

    @property
    def busy(self) -> bool:
        """Whether a call waits or runs; a stream that nobody reads is none."""
        return any(call.answer is None for call in self.calls.values())


class Sessions:
    """All sessions of one life of a server."""

    def __init__(self, settings: RpcServerSettings, luck: Luck) -> None:
        self._settings = settings
        self._luck = luck
        self._known: dict[int, Session] = {}
        self._sweep_at: Instant = NEVER

    def __len__(self) -> int:
        return len(self._known)

    def open(self, now: Instant) -> int:
        """The number of a new session."""
        number = (self._luck.bits() >> 1) or 1
        self._known[number] = Session(self._settings, now)
        self._sweep_at = min(self._sweep_at, now + self._settings.idle_ns)
        return number

    def find(self, number: int, now: Instant) -> Session | None:
        """The session, whose caller was heard now."""
        session = self._known.get(number)
        if session is not None:
            session.touched = now
        return session

    def end(self, number: int) -> Session | None:
        """Forgets a session."""
        return self._known.pop(number, None)

    def deadline(self) -> Instant:
        return self._sweep_at

    def sweep(self, now: Instant) -> Iterator[Session]:
        """Forgets the sessions in which nothing has happened for too long, and gives them."""
        if now < self._sweep_at:
            return
        idle = self._settings.idle_ns
        for number, session in tuple(self._known.items()):
            if session.touched + idle <= now and not session.busy:
                yield self._known.pop(number)
        self._sweep_at = now + idle if self._known else NEVER
