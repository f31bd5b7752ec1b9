"""Replaying: recordings of real nodes fed to the same machines, which must say the same again.

Besides, the oracles that hold for a node alone look on: nothing is said before it is durable, every call is answered
once at the most, what a reader hands to its application comes without gaps and repetitions, and a dispatcher that was
started again from what it has written would be where it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple

from tfsvc.errors import FailedPreconditionError, InvalidArgumentError, RpcError
from tfsvc.flight.births import Birth, DispatcherBirth, ReaderBirth, recovered
from tfsvc.flight.codec import Codec
from tfsvc.flight.format import SUFFIX, DamagedRecordingError, Entry, Flight, Header, digest, read
from tfsvc.flight.state import thaw
from tfsvc.protocol import messages as m
from tfsvc.protocol.contract import (
    Answered,
    Append,
    Asked,
    Call,
    Command,
    Event,
    Failed,
    Finish,
    Machine,
    Reply,
    Role,
    Synced,
)
from tfsvc.protocol.dispatcher.history import shorten
from tfsvc.protocol.dispatcher.machine import Dispatcher
from tfsvc.protocol.dispatcher.state import DispatcherState
from tfsvc.protocol.gate import Gate
from tfsvc.protocol.ids import CallId, Instant
from tfsvc.protocol.reading import Batch
from tfsvc.protocol.updates import Update
from tfsvc_sim.judging.ledger import Taking
from tfsvc_sim.judging.oracles import in_order
from tfsvc_sim.judging.witness import NotDurableError, Witness

_PLAIN: Final = Codec(b"", bodies=True)
"""Stand-ins stay what they are, so no key is needed."""
SHOWN: Final = 3
"""How many commands of a step that differs are told in full."""


class Moment(NamedTuple):
    """One event of a replay: when it was by the node's clock, and what the machine says to it now."""

    at: Instant
    event: Event
    commands: Sequence[Command]
    machine: Machine


Watch = Callable[[Moment], None]


@dataclass(frozen=True, slots=True)
class Life:
    """One life of a node: its consecutive files, the oldest first."""

    parts: tuple[Flight, ...]

    @property
    def header(self) -> Header:
        return self.parts[0].header

    @property
    def entries(self) -> Iterator[Entry]:
        return (entry for part in self.parts for entry in part.entries)

    @property
    def damage(self) -> DamagedRecordingError | None:
        return self.parts[-1].damage

    def __str__(self) -> str:
        return f"{self.header.role} {self.header.name}, life {self.header.incarnation}"


@dataclass(slots=True)
class Replay:
    """What came of it.

    Attributes:
      events: how many were played.
      difference: where the machine first said something else than it had, in words; empty if nowhere.
      problems: what the oracles found.
      takings: what a reader handed to its application.
    """

    life: Life
    events: int = 0
    difference: str = ""
    problems: list[str] = field(default_factory=list)
    takings: list[Taking] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not self.difference and not self.problems


def find(paths: Iterable[Path], partial: bool = False) -> list[Life]:
    """The lives in files, and in the recordings of directories, in the order in which they began.

    Args:
      partial: whether a file may end in damage, as those of killed processes may.

    Raises:
      DamagedRecordingError: if a file is damaged.
      InvalidArgumentError: if there is no recording.
    """
    files: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise InvalidArgumentError(message=f"there is no {path}: give recordings, or a directory that holds some")
        files.update(dict.fromkeys(sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]))
    if not files:
        raise InvalidArgumentError(message=f"there are no recordings (*{SUFFIX}) in {', '.join(map(str, paths))}")
    by_life: dict[tuple[str, str, int], list[Flight]] = defaultdict(list)
    for path in files:
        flight = read(path, partial)
        by_life[flight.header.role, flight.header.name, flight.header.incarnation].append(flight)
    lives = [life for flights in by_life.values() for life in _consecutive(flights)]
    return sorted(lives, key=lambda life: life.header.wall_ns)


def _consecutive(flights: list[Flight]) -> Iterator[Life]:
    """A life whose files have gone in between falls into pieces."""
    run: list[Flight] = []
    for flight in sorted(flights, key=lambda flight: flight.header.part):
        if run and flight.header.events != run[-1].header.events + len(run[-1].entries):
            yield Life(tuple(run))
            run = []
        run.append(flight)
    yield Life(tuple(run))


def replay(life: Life, trust: bool = False, watch: Watch | None = None) -> Replay:
    """Plays a life again.

    Args:
      trust: whether to begin with a machine that lies in the file, where the beginning of the life has gone. Such a
        file can run any code, so it must come from somebody trusted.
      watch: is told of every moment.

    Raises:
      FailedPreconditionError: if the beginning has gone, and the file is not trusted.
    """
    found = Replay(life)
    oracle = _Oracle(found)
    machine, role = _machine(life, trust)
    durable = recovered(life.header.birth)
    witness = None if role is None else Witness(role, durable)
    if witness is not None:
        machine = Gate(witness, durable)
    for entry in life.entries:
        try:
            commands = machine.handle(entry.event, entry.at)
        except Exception as error:
            found.problems.append(f"{_where(life, entry)}: the machine broke: {type(error).__name__}: {error}")
            break
        found.events += 1
        if isinstance(entry.event, Synced):
            durable = max(durable, entry.event.upto)
        if witness is not None:
            _hear(found, witness, commands, durable)
        oracle.look(entry, commands)
        if watch is not None:
            watch(Moment(entry.at, entry.event, commands, machine))
        if entry.commands is not None and not found.difference:
            found.difference = _difference(life, entry, commands)
    if _has_streams_of_its_own(life.header.birth):
        found.problems += in_order(found.takings, ascending=False)
    if isinstance(role, Dispatcher):
        found.problems += _recovery(life, role, oracle.updates)
    return found


def _has_streams_of_its_own(birth: Birth) -> bool:
    """Whether it reads lanes, each element of which it is promised once; of other streams, others read parts."""
    if not isinstance(birth, ReaderBirth):
        return False
    wanted = birth.request
    shared = wanted.coordinated or bool(wanted.trainer_id)
    return wanted.policy.has_lanes and not shared and wanted.delivery is m.Delivery.EXACTLY_ONCE


def _machine(life: Life, trust: bool) -> tuple[Machine, Role | None]:
    """The machine where the recording begins, and its role if that is at its birth."""
    header = life.header
    if not header.state:
        role = header.birth.role()
        return Gate(role, recovered(header.birth)), role
    if not trust:
        raise FailedPreconditionError(
            message=f"{life.parts[0].path} begins in the middle of a life, with a machine that was pickled. A pickle "
            "can run any code: if you trust whoever made the file, replay it with --trust (trust=True)."
        )
    try:
        return thaw(header.state), None
    except Exception as error:
        raise FailedPreconditionError(
            message=f"the machine in {life.parts[0].path} cannot be used by this version of tfsvc: {error!r}. "
            "Replay it where it was recorded."
        ) from error


def _recovery(life: Life, role: Dispatcher, updates: Sequence[Update]) -> list[str]:
    """What the dispatcher has written must fold to what it holds, and so must the shortest history of that."""
    assert isinstance(life.header.birth, DispatcherBirth)
    written = (*life.header.birth.records, *updates)
    problems = []
    for what, records in (("what it has written", written), ("its compacted journal", tuple(shorten(written)))):
        state = DispatcherState()
        for update in records:
            state.apply(update)
        if state != role.state:
            problems.append(f"{life}: a restart from {what} would not be where it is")
    return problems


def _hear(found: Replay, witness: Witness, commands: Sequence[Command], durable: int) -> None:
    try:
        for command in commands:
            if not isinstance(command, Append):
                witness.hears(command, durable)
    except NotDurableError as error:
        found.problems.append(str(error))


def _difference(life: Life, entry: Entry, commands: Sequence[Command]) -> str:
    assert entry.commands is not None
    now = [digest(command, _PLAIN) for command in commands]
    if tuple(now) == entry.commands:
        return ""
    pairs = zip_longest(now, entry.commands)
    place = next(i for i, (one, other) in enumerate(pairs) if one != other)
    told = "; ".join(_short(command) for command in commands[place : place + SHOWN])
    return (
        f"{_where(life, entry)}: command {place + 1} differs. Recorded: {_listed(entry.commands[place:])}. "
        f"Now: {_listed(now[place:])}{': ' if told else ''}{told}"
    )


def _listed(digests: Sequence[str]) -> str:
    return ", ".join(digests) or "nothing more"


def _where(life: Life, entry: Entry) -> str:
    after = (entry.at - life.header.at) / 1e9
    return f"event {entry.number} of {life}, {type(entry.event).__name__} {after:.6f} s after its beginning"


def _short(command: Command) -> str:
    text = repr(command)
    return text if len(text) <= 300 else f"{text[:300]}..."


class _Oracle:
    """What must be true of one node's events and commands."""

    def __init__(self, found: Replay) -> None:
        self._found = found
        self._whole = not found.life.header.state
        self._asked: set[CallId] = set()
        self._open: set[CallId] = set()
        self.updates: list[Update] = []

    def look(self, entry: Entry, commands: Sequence[Command]) -> None:
        match entry.event:
            case Asked(call):
                self._asked.add(call)
            case Answered(call) | Failed(call):
                if call not in self._open and self._whole:
                    self._tell(entry, f"call {call.seq} was answered, and was not under way")
                self._open.discard(call)
            case _:
                pass
        for command in commands:
            match command:
                case Append(_, update):
                    self.updates.append(update)
                case Call(call):
                    self._open.add(call)
                case Reply(call):
                    if call not in self._asked and self._whole:
                        self._tell(entry, f"it answers call {call.seq} of {call.node}, which nobody waits for")
                    self._asked.discard(call)
                case Finish(_, Batch() as batch):
                    self._took(entry, batch)
                case _:
                    pass

    def _took(self, entry: Entry, batch: Batch) -> None:
        header = self._found.life.header
        error = batch.frame.error
        told = error.message if isinstance(error, RpcError) else ""
        for ordinal in range(batch.first, batch.first + batch.count):
            taking = Taking(entry.at, header.name, header.name, batch.stream, ordinal, batch.worker, (), told)
            self._found.takings.append(taking)

    def _tell(self, entry: Entry, what: str) -> None:
        self._found.problems.append(f"{_where(self._found.life, entry)}: {what}")
