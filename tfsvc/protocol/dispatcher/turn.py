"""A turn: everything one event lets a handler see, record and say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.contract import About, Call, Note, Reply, Step, Store, Word
from tfsvc.protocol.dispatcher.chronicle import Chronicle
from tfsvc.protocol.dispatcher.counters import Counters
from tfsvc.protocol.dispatcher.course import Course
from tfsvc.protocol.dispatcher.roster import Roster
from tfsvc.protocol.dispatcher.state import DispatcherState
from tfsvc.protocol.filing import Deed
from tfsvc.protocol.ids import Address, CallId, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import ActiveTask, Consumption, Request, Response
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc.protocol.steering import Guided, Steering
from tfsvc.protocol.updates import Update
from tfsvc.record import record

NOTHING_MORE: Final = About()


@dataclass(slots=True)
class Joining:
    """How far the readers are in agreeing on the first round of a pending task."""

    target: int = 1
    failures: int = 0
    ready: dict[int, None] = field(default_factory=dict)


@dataclass(slots=True)
class Removal:
    """Which consumers have given up a task, in which round."""

    round: int
    until: Instant
    waiting: dict[int, list[CallId]] = field(default_factory=dict)


@dataclass(slots=True)
class Stopping:
    """The whole service ends: until when workers may drain, and who waits to hear that they have."""

    until: Instant
    waiting: list[CallId] = field(default_factory=list)
    over: bool = False


@dataclass(slots=True)
class Storing:
    """A deed under way, and what is answered to whom when it is done."""

    deed: Deed
    reply: Reply | None


@record
class Standing:
    """Where a lane stood when an attempt of it was first seen."""

    attempt: int
    since: Instant
    taken: int


@dataclass(slots=True)
class Vitals:
    """What a dispatcher knows of the present and may forget: who was heard when."""

    since: Instant | None = None
    """When this life of the dispatcher began."""
    workers: dict[str, Instant] = field(default_factory=dict)
    intervals_ns: dict[str, int] = field(default_factory=dict)
    suspects: dict[str, None] = field(default_factory=dict)
    """Workers that missed their heartbeats, or are leaving: they get no lanes."""
    left: dict[str, Instant] = field(default_factory=dict)
    """When a worker said that it leaves."""
    draining: dict[str, None] = field(default_factory=dict)
    """Workers that will leave as soon as nothing is lost by that: they get nothing new."""
    dismissed: dict[str, Instant] = field(default_factory=dict)
    """Workers that somebody wants to drain and to end, and until when they may take."""
    stopping: Stopping | None = None
    had_work: bool = False
    """Whether there ever was a reader or a snapshot in this life."""
    idle_since: Instant | None = None
    """From when on there are none any more."""
    paces: dict[str, tuple[ActiveTask, ...]] = field(default_factory=dict)
    """How long an element takes, by worker, as it last said."""
    wants: dict[int, float] = field(default_factory=dict)
    """Between which two elements each reader would never wait, in nanoseconds."""
    consumptions: dict[int, Consumption] = field(default_factory=dict)
    """What each reader took and how long it waited, as it last said."""
    counters: Counters = field(default_factory=Counters)
    chronicle: Chronicle = field(default_factory=Chronicle)
    course: Course = field(default_factory=Course)
    clients: dict[int, Instant] = field(default_factory=dict)
    """``NEVER`` until a TensorFlow reader's first heartbeat: it may take its time."""
    lane_readers: dict[int, None] = field(default_factory=dict)
    plain_readers: dict[int, None] = field(default_factory=dict)
    """Readers of TensorFlow's, which know no lanes."""
    nearby: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """The workers in each reader's own process."""
    told_end: dict[int, None] = field(default_factory=dict)
    """Readers whose last answer said that there is nothing more."""
    shunned: dict[tuple[str, int], Instant] = field(default_factory=dict)
    """Workers and readers that could not reach them, and when the reader said so."""
    waiting_since: dict[int, Instant] = field(default_factory=dict)
    """From when on the workers of a static iteration are waited for."""
    ready: dict[tuple[int, int], int] = field(default_factory=dict)
    """By iteration and consumer: how many elements it has handed out or could."""
    rounds: dict[int, int] = field(default_factory=dict)
    """The last round that each reader of coordinated rounds was in."""
    joining: dict[int, Joining] = field(default_factory=dict)
    removals: dict[int, Removal] = field(default_factory=dict)
    released_at: dict[int, Instant] = field(default_factory=dict)
    """When an iteration last lost a reader."""
    next_gc: Instant = 0
    stores: dict[int, Storing] = field(default_factory=dict)
    """Deeds under way by their numbers."""
    stores_begun: int = 0
    roster: Roster = field(default_factory=Roster)
    next_steering: Instant = 0
    standings: dict[int, Standing] = field(default_factory=dict)
    """By lane."""


@dataclass(slots=True)
class Turn:
    state: DispatcherState
    vitals: Vitals
    settings: DispatcherSettings
    luck: Luck
    now: Instant
    name: str
    incarnation: int
    calls: int
    """How many calls this life of the dispatcher has made."""
    steering: Steering = field(default_factory=Guided)
    hasten: bool = False
    """Whether something now runs out earlier than before; heartbeats alone only put things off."""
    updates: list[Update] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)

    def record(self, update: Update) -> None:
        """Makes a fact true now, and durable before anybody hears of it."""
        self.vitals.roster.note(self.state, update)
        self.vitals.counters.note(self.state, update)
        self.vitals.chronicle.note(self.state, update)
        self.state.apply(update)
        self.updates.append(update)

    def changed(self) -> None:
        """Something that is not recorded has changed, and lanes may have to be arranged anew."""
        self.vitals.roster.changes += 1

    def reply(self, call: CallId, answer: Response | RpcError) -> None:
        self.words.append(Reply(call, answer))

    def call(self, peer: str, request: Request, timeout_ns: int) -> None:
        self.calls += 1
        name = CallId(self.name, self.incarnation, self.calls)
        self.words.append(Call(name, Address(peer), request, timeout_ns))

    def store(self, deed: Deed, reply: Reply | None = None) -> None:
        """Has something done to the files of a snapshot, and then says ``reply`` unless it failed."""
        self.vitals.stores_begun += 1
        self.vitals.stores[self.vitals.stores_begun] = Storing(deed, reply)
        self.words.append(Store(self.vitals.stores_begun, deed))

    def warn(self, text: str, about: About = NOTHING_MORE) -> None:
        self._say("warning", text, about)

    def tell(self, text: str, about: About = NOTHING_MORE) -> None:
        self._say("info", text, about)

    def _say(self, level: str, text: str, about: About) -> None:
        self.words.append(Note(level, text, about))
        self.vitals.chronicle.say(level, text, about)

    def step(self) -> Step:
        self.vitals.chronicle.settle(self.now)
        return Step(tuple(self.updates), tuple(self.words))


def not_found(what: str) -> RpcError:
    return RpcError(Code.NOT_FOUND, what)


def invalid(what: str) -> RpcError:
    return RpcError(Code.INVALID_ARGUMENT, what)


def precondition(what: str) -> RpcError:
    return RpcError(Code.FAILED_PRECONDITION, what)
