"""Moments: when something is to happen, said by what happens then: "before the third answer to worker 1's leases"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tfsvc.protocol.updates import Update
from tfsvc_sim.judging.ledger import Taking
from tfsvc_sim.kernel.rules import Match, Packet


class Edge(StrEnum):
    """On which side of a call, seen from the node that answers it."""

    ARRIVES = "as the request arrives"
    BEFORE_REPLY = "before the reply"
    AFTER_REPLY = "after the reply"


@dataclass(frozen=True, slots=True)
class Message:
    """A call: the ``nth`` one of ``method`` that ``node`` makes, and on which side of it.

    Attributes:
      method: as in ``LeaseSplits``, ``GetFrames``, ``ClientHeartbeat``.
      node: who asks; anybody where it is empty.
      nth: counted from 1, repetitions included.
      edge: the side, seen from the node that answers.
    """

    method: str
    node: str = ""
    nth: int = 1
    edge: Edge = Edge.BEFORE_REPLY


@dataclass(frozen=True, slots=True)
class Record:
    """The dispatcher writes its ``nth`` record of a name, as ``MoveLane``, and has not synced it yet."""

    name: str
    nth: int = 1


@dataclass(frozen=True, slots=True)
class Taken:
    """The ``nth`` element is taken, with its whole batch; by ``reader``, or by anybody where it is empty."""

    nth: int
    reader: str = ""


Moment = Message | Record | Taken


class Watched(Protocol):
    """What moments need of a world."""

    def resolve(self, name: str) -> str: ...

    def at(self, when: int, do: Callable[[], None]) -> None: ...

    def watch_packets(self, watcher: Callable[[Packet], bool]) -> None: ...

    def watch_records(self, watcher: Callable[[Update], None]) -> None: ...

    def watch_takings(self, watcher: Callable[[Taking], None]) -> None: ...


def upon(moment: Moment, world: Watched, do: Callable[[], None]) -> None:
    """Does something once, at that moment: after the machine at hand has spoken, and before anybody hears it."""
    late = isinstance(moment, Message) and moment.edge is Edge.AFTER_REPLY

    def come() -> bool:
        world.at(1 if late else 0, do)
        return not late

    watch(moment, world, come)


def watch(moment: Moment, world: Watched, come: Callable[[], bool]) -> None:
    """Calls ``come`` once, at that moment, while the machine at hand still speaks.

    What it returns says whether a message that brought the moment about waits until something has happened.
    """
    countdown = _Countdown(moment.nth)
    match moment:
        case Message(method, node, _, edge):
            asker = world.resolve(node) if node else ""
            asks = edge is Edge.ARRIVES
            meant = Match(asker, "", method, True) if asks else Match("", asker, method, False)
            world.watch_packets(lambda packet: meant(packet) and countdown.is_over() and come())
        case Record(name, _):

            def look(update: Update) -> None:
                if type(update).__name__ == name and countdown.is_over():
                    come()

            world.watch_records(look)
        case Taken(_, reader):
            who = world.resolve(reader) if reader else ""

            def count(taking: Taking) -> None:
                if who in ("", taking.reader) and countdown.is_over():
                    come()

            world.watch_takings(count)


class _Countdown:
    """Counts to a number, and says once that it was reached."""

    def __init__(self, nth: int) -> None:
        self._left = nth

    def is_over(self) -> bool:
        self._left -= 1
        return self._left == 0
