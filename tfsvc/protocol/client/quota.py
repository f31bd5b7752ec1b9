"""The quota: how many elements a consumer may hand out that must get as many as the others."""

from __future__ import annotations

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import SECOND, Instant
from tfsvc.protocol.reading import EndOfData, MakeUp


class Quota:
    """Counts what is handed out, and asks for no more than the dispatcher's last word allows.

    Args:
      remainder: what becomes of the elements that some consumers have more of.
      made_up: how many elements had been made up where the reader goes on.
      timeout_ns: how long it waits for other consumers.
    """

    def __init__(self, remainder: m.Remainder, made_up: int, timeout_ns: int) -> None:
        self.handed = 0
        self._applies = remainder is not m.Remainder.KEEP
        self._remainder = remainder
        self._made_up = made_up
        self._timeout_ns = timeout_ns
        self._level: m.Level | None = None
        self._blocked_since: Instant | None = None

    @property
    def applies(self) -> bool:
        return self._applies

    @property
    def own(self) -> int:
        """How many of the elements handed out were the consumer's own."""
        return self.handed - self._made_up

    @property
    def begun(self) -> bool:
        """Whether the dispatcher has said what there is."""
        return self._level is not None

    @property
    def blocked(self) -> bool:
        """Whether the application waits for other consumers."""
        return self._blocked_since is not None

    def take(self, level: m.Level | None) -> None:
        """The dispatcher's latest word."""
        if level is not None:
            if self._level is None:
                self.handed = level.taken + self._made_up
            self._level = level

    def room(self) -> int | None:
        """How many more elements may be handed out; ``None`` for all there are."""
        if not self.applies:
            return None
        if self._level is None:
            return 0
        return max(0, self._level.reach - self.handed) if self._remainder is m.Remainder.DROP else None

    def hand(self, count: int) -> None:
        """The application gets ``count`` more elements."""
        self.handed += count
        self._blocked_since = None

    def beyond(self, own_end: bool, now: Instant) -> MakeUp | EndOfData | RpcError | None:
        """What the application gets when nothing of its own may be handed out; ``None``: it has to wait."""
        if not self.applies or self._level is None:
            return None
        level = self._level
        if level.final is not None and self.handed >= level.final:
            return EndOfData()
        if own_end and self._remainder is not m.Remainder.DROP and level.reach > self.handed:
            made_up = MakeUp(self._made_up, level.reach - self.handed)
            self._made_up += made_up.count
            self.hand(made_up.count)
            return made_up
        if not own_end and (self._remainder is not m.Remainder.DROP or level.reach > self.handed):
            self._blocked_since = None
            return None
        return self._wait(level, now)

    def _wait(self, level: m.Level, now: Instant) -> RpcError | None:
        since = self._blocked_since = now if self._blocked_since is None else self._blocked_since
        if now - since < self._timeout_ns:
            return None
        who = ", ".join(map(str, level.waits_for))
        return RpcError(
            Code.DEADLINE_EXCEEDED,
            f"Consumers {who} have not gone beyond element {level.reach} for {(now - since) // SECOND} s, and all "
            "consumers of the job are to get the same number of elements. Are they running? Choose another "
            "`remainder`, or start them again.",
        )
