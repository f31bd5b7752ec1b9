"""A role that does what a test says and remembers all that it was told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tfsvc.errors import RpcError
from tfsvc.protocol.contract import NOTHING, Answered, Asked, Call, Event, Failed, Reply, Step, Woke, Word
from tfsvc.protocol.ids import NEVER, SECOND, Address, CallId, Instant
from tfsvc.protocol.messages import Request, Response
from tfsvc.protocol.updates import Update


@dataclass(frozen=True)
class ProbeView:
    events: int


@dataclass
class Probe:
    """Says the words of its plan when their time has come.

    Attributes:
      plan: pairs of a delay, counted from the first event in nanoseconds, and words.
      answer: what a request is answered; ``None`` for nothing.
      updates: recorded with each answer.
      events: what it was told, with the times.
    """

    plan: Sequence[tuple[int, Sequence[Word]]] = ()
    answer: Callable[[Request], Response | RpcError | None] = lambda _: None
    delay_ns: int = 0
    updates: tuple[Update, ...] = ()
    events: list[tuple[Event, Instant]] = field(default_factory=list)
    _started: Instant | None = None
    _said: int = 0
    _later: list[tuple[Instant, Word]] = field(default_factory=list)

    def handle(self, event: Event, now: Instant) -> Step:
        self._started = now if self._started is None else self._started
        self.events.append((event, now))
        words: list[Word] = []
        while self._said < len(self.plan) and self._started + self.plan[self._said][0] <= now:
            words.extend(self.plan[self._said][1])
            self._said += 1
        words.extend(word for due, word in self._later if due <= now)
        self._later = [(due, word) for due, word in self._later if due > now]
        if isinstance(event, Asked):
            given = self.answer(event.request)
            if given is not None and self.delay_ns:
                self._later.append((now + self.delay_ns, Reply(event.call, given)))
            elif given is not None:
                return Step(self.updates, (*words, Reply(event.call, given)))
        return Step(words=tuple(words)) if words else NOTHING

    def deadline(self) -> Instant:
        if self._started is None:
            return 0
        due = min((due for due, _ in self._later), default=NEVER)
        if self._said < len(self.plan):
            due = min(due, self._started + self.plan[self._said][0])
        return due

    def view(self) -> ProbeView:
        return ProbeView(len(self.events))

    @property
    def answers(self) -> list[Answered | Failed]:
        """What came back of its calls."""
        return [event for event, _ in self.events if isinstance(event, Answered | Failed)]

    @property
    def asked(self) -> list[Request]:
        """What it was asked."""
        return [event.request for event, _ in self.events if isinstance(event, Asked)]

    def woken(self) -> list[Instant]:
        return [now for event, now in self.events if isinstance(event, Woke)]


def call(seq: int, peer: str, request: Request, timeout_ns: int = 10 * SECOND) -> Call:
    """A call named by its number alone."""
    return Call(CallId("probe", 1, seq), Address(peer), request, timeout_ns)
