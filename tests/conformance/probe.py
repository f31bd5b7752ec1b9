"""A role that does what a test says and remembers all that it was told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

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
      name: its own address, which names its calls.
    """

    plan: Sequence[tuple[int, Sequence[Word]]] = ()
    answer: Callable[[Request], Response | RpcError | None] = lambda _: None
    delay_ns: int = 0
    updates: tuple[Update, ...] = ()
    events: list[tuple[Event, Instant]] = field(default_factory=list)
    name: str = "probe"
    _started: Instant | None = None
    _said: int = 0
    _later: list[tuple[Instant, Word]] = field(default_factory=list)

    def at(self, address: str) -> Probe:
        """The probe itself, living at ``address``."""
        self.name = address
        return self

    def handle(self, event: Event, now: Instant) -> Step:
        self._started = now if self._started is None else self._started
        self.events.append((event, now))
        words: list[Word] = []
        while self._said < len(self.plan) and self._started + self.plan[self._said][0] <= now:
            words.extend(map(self._named, self.plan[self._said][1]))
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

    def _named(self, word: Word) -> Word:
        return replace(word, call=word.call._replace(node=self.name)) if isinstance(word, Call) else word

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
    """A call by its number; the probe that says it completes its name."""
    return Call(CallId("probe", 1, seq), Address(peer), request, timeout_ns)
