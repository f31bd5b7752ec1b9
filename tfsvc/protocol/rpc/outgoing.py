"""A call that a client has been asked to make, and the session that its server remembers it in."""

from __future__ import annotations

from typing import Final

from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol.calls import Backoff
from tfsvc.protocol.ids import NEVER, SECOND, Instant
from tfsvc.protocol.messages import CallRequest
from tfsvc.protocol.rpc.wishes import Invocation

ATTEMPT_NS: Final = 10 * SECOND
"""A call that may be repeated is repeated after this long without an answer; its function goes on meanwhile."""

_LOST: Final = frozenset({Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.CANCELLED})
"""What became of a call that was not answered; any other code would be the same the next time."""


class Session:
    """Numbers for the calls of one session; ``id`` is 0 where the server keeps none."""

    def __init__(self, id: int) -> None:
        self.id = id
        self._last = 0
        self._open: dict[int, None] = {}

    def number(self) -> int:
        """The number of a new call."""
        self._last += 1
        self._open[self._last] = None
        return self._last

    def close(self, seq: int) -> None:
        """The client has done with a call."""
        self._open.pop(seq, None)

    @property
    def floor(self) -> int:
        """The first call that is not done with."""
        return next(iter(self._open), self._last + 1)


class Outgoing:
    """One call.

    Attributes:
      token: under which the application waits for it.
      expires: when the application waits no longer.
      retry_at: when it is to be made again; ``None`` while it is under way, or waits for a session.
      unsure: whether an earlier attempt may have run.
      session: where it is remembered, once it has been made in one.
      seq: its number there.
    """

    def __init__(self, token: int, wanted: Invocation, now: Instant, backoff: Backoff) -> None:
        self.token = token
        self.wanted = wanted
        self.expires: Instant = now + wanted.timeout_ns if wanted.timeout_ns > 0 else NEVER
        self.retry_at: Instant | None = None
        self.unsure = False
        self.session: Session | None = None
        self.seq = 0
        self._backoff = backoff

    @property
    def needs_session(self) -> bool:
        return self.wanted.retry or self.wanted.streams

    def request(self, session: Session | None, now: Instant) -> CallRequest:
        """The request of the next attempt, in the session that an earlier one named, or else in this one."""
        self.retry_at = None
        if self.session is None and session is not None and session.id:
            self.session, self.seq = session, session.number()
        wanted = self.wanted
        if self.session is None:
            return CallRequest(wanted.method, wanted.input_tensors)
        left = 0 if self.expires == NEVER else max(1, self.expires - now)
        return CallRequest(
            wanted.method, wanted.input_tensors, self.session.id, self.seq, self.session.floor, timeout_ns=left
        )

    def timeout_ns(self, now: Instant) -> int:
        """How long the next attempt may take."""
        left = max(1, self.expires - now)
        return min(left, ATTEMPT_NS) if self.session is not None and self.needs_session else left

    def failed(self, error: RpcError, now: Instant) -> RpcError | None:
        """An attempt failed; gives the call's error, unless it is to be made again."""
        if error.outcome is Outcome.UNKNOWN:
            self.unsure = True
            lost = error.code in _LOST and self.session is not None and self.needs_session
            if not lost or now >= self.expires:
                return error
        elif error.outcome is Outcome.FAILED:
            return error
        self.later(now)
        return None

    def later(self, now: Instant) -> None:
        """It is to be made again, after a while."""
        self.retry_at = min(self._backoff.next(now), self.expires)

    def leave(self) -> bool:
        """Its session is no more. False if it may have run there: then it must not run in another one."""
        if self.session is not None:
            self.session.close(self.seq)
        self.session, self.seq = None, 0
        return not self.unsure
