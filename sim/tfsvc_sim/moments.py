"""Moments: when something is to happen, said by what happens then: "before the third answer to worker 1's leases"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tfsvc.protocol.updates import Update
from tfsvc_sim.ledger import Taking
from tfsvc_sim.rules import Match, Packet


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
    """

    method: str
    node: str = ""
    nth: int = 1
    edge: Edge = Edge.BEFORE_REPLY


@dataclass(frozen=True, slots=True)
class Record:
    """The dispatcher writes its ``nth`` record of a ``kind``, as ``MoveLane``, and has not synced it yet."""

    kind: str
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
    countdown = _Countdown(moment.nth)

    def happen() -> None:
        world.at(0, do)

    match moment:
        case Message(method, node, _, edge):
            asker = world.resolve(node) if node else ""
            asks = edge is Edge.ARRIVES
            match_ = Match(asker, "", method, True) if asks else Match("", asker, method, False)

            def watch_packet(packet: Packet) -> bool:
                if not match_(packet) or not countdown.is_over():
                    return False
                if edge is Edge.AFTER_REPLY:
                    world.at(1, do)
                else:
                    happen()
                return edge is not Edge.AFTER_REPLY

            world.watch_packets(watch_packet)
        case Record(kind, _):

            def watch_record(update: Update) -> None:
                if type(update).__name__ == kind and countdown.is_over():
                    happen()

            world.watch_records(watch_record)
        case Taken(_, reader):
            who = world.resolve(reader) if reader else ""

            def watch_taking(taking: Taking) -> None:
                if who in ("", taking.reader) and countdown.is_over():
                    happen()

            world.watch_takings(watch_taking)


class _Countdown:
    """Counts to a number, and says once that it was reached."""

    def __init__(self, nth: int) -> None:
        self._left = nth

    def is_over(self) -> bool:
        self._left -= 1
        return self._left == 0
