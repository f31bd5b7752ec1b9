"""Rules: what becomes of a packet on its way. Faults of the network are rules that come and go.

A rule judges every packet, or those that a :class:`Match` lets it see: ``Only(Match(method="LeaseSplits"), Loss(1))``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol

from tfsvc.errors import RpcError
from tfsvc.protocol.ids import SECOND, CallId, Instant
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import Request, Response
from tfsvc.record import record
from tfsvc.wire.messages import encode


@record
class Packet:
    """One message on its way.

    Attributes:
      source: the address that sent it.
      target: the address it goes to.
      call: the call that it asks or answers.
      body: a request, or the answer to one; ``None`` where nobody waits for the answer any more.
      asks: whether it goes to whom is asked.
      cause: the event in which it was sent.
    """

    source: str
    target: str
    call: CallId
    body: Request | Response | RpcError | None
    asks: bool
    cause: int


@record
class Fate:
    """What becomes of a packet: one copy for each of ``delays_ns``, each that much later than usual.

    Attributes:
      held: whether it waits until the rule is lifted, or the packets that it holds are released.
      garbled: whether its bytes change on the way. Checksums notice that, and the connection is reset.
      instead: what is carried in its place, of a packet that is changed and still makes sense.
    """

    delays_ns: tuple[int, ...]
    held: bool = False
    garbled: bool = False
    instead: Packet | None = None


PASS: Final = Fate((0,))
DROP: Final = Fate(())
HOLD: Final = Fate((), held=True)
GARBLE: Final = Fate((0,), garbled=True)


class Rule(Protocol):
    """Judges packets; the first rule that does not say ``PASS`` decides."""

    def fate(self, packet: Packet, luck: Luck, now: Instant) -> Fate:
        """``luck`` belongs to this rule alone."""
        ...


@record
class Match:
    """A guard: which packets are meant. What is left empty matches all.

    Attributes:
      source: who sends it.
      target: who gets it.
      method: of the call that it asks or answers, as ``LeaseSplits``; an error that answers one has no method.
      asks: whether it is a request.
    """

    source: str = ""
    target: str = ""
    method: str = ""
    asks: bool | None = None

    def __call__(self, packet: Packet) -> bool:
        return (
            self.source in ("", packet.source)
            and self.target in ("", packet.target)
            and self.asks in (None, packet.asks)
            and self.method in ("", method_of(packet))
        )


def method_of(packet: Packet) -> str:
    """The method of the call that a packet asks or answers; empty for an error."""
    return type(packet.body).__name__.removesuffix("Request").removesuffix("Response").removesuffix("RpcError")


@record
class Only:
    """A rule for those packets alone that ``match``."""

    match: Match
    rule: Rule

    def fate(self, packet: Packet, luck: Luck, now: Instant) -> Fate:
        return self.rule.fate(packet, luck, now) if self.match(packet) else PASS


@record
class Always:
    """Every packet has the same fate: ``DROP``, ``HOLD``, ``GARBLE`` or one of your own.

    Attributes:
      what: the fate.
    """

    what: Fate

    def fate(self, packet: Packet, luck: Luck, now: Instant) -> Fate:
        return self.what


@record
class Partition:
    """Nothing passes between two groups of addresses; ``oneway``: only from the first to the second."""

    ones: frozenset[str]
    others: frozenset[str]
    oneway: bool = False

    def fate(self, packet: Packet, luck: Luck, now: Instant) -> Fate:
        if packet.source in self.ones and packet.target in self.others:
            return DROP
        if not self.oneway and packet.source in self.others and packet.target in self.ones:
            return DROP
        return PASS


@record
class Loss:
    """A share of packets is lost."""

    share: float

    def fate(self, packet: Packet, luck: Luck, now: Instant) -> Fate:
        return DROP if luck.unit() < self.share else PASS


@record
class Duplication:
    """A share of packets comes twice, the second time up to ``later_ns`` later."""

    share: float
    later_ns: int

    def fate(self, packet: Packet, luck: Luck, now: Instant) -> Fate:
        return Fate((0, luck.below(self.later_ns))) if luck.unit() < self.share else PASS


@record
class Reordering:
    """A share of packets comes up to ``later_ns`` late, behind others that were sent after it."""

    share: float
    later_ns: int

    def fate(self, packet: Packet, luck: Luck, now: Instant) -> Fate:
        return Fate((luck.below(self.later_ns),)) if luck.unit() < self.share else PASS


@record
class Delay:
    """Every packet comes between half of ``later_ns`` and all of it late."""

    later_ns: int

    def fate(self, packet: Packet, luck: Luck, now: Instant) -> Fate:
        return Fate((self.later_ns // 2 + luck.below(self.later_ns // 2 + 1),))


@record
class Corruption:
    """A share of packets is garbled."""

    share: float

    def fate(self, packet: Packet, luck: Luck, now: Instant) -> Fate:
        return GARBLE if luck.unit() < self.share else PASS


@dataclass(slots=True)
class Bottleneck:
    """Each link of a node carries so many bytes a second, one packet behind the other, and drops what finds no room.

    Attributes:
      node: the address at one end of the links.
      bytes_per_s: what a link carries.
      queue_bytes: how much may wait for one.
    """

    node: str
    bytes_per_s: int
    queue_bytes: int
    _free_at: dict[tuple[str, str], Instant] = field(default_factory=dict, init=False, repr=False)

    def fate(self, packet: Packet, luck: Luck, now: Instant) -> Fate:
        if self.node not in (packet.source, packet.target):
            return PASS
        link = packet.source, packet.target
        begins = max(now, self._free_at.get(link, 0))
        if (begins - now) * self.bytes_per_s > self.queue_bytes * SECOND:
            return DROP
        done = begins + size(packet) * SECOND // self.bytes_per_s
        self._free_at[link] = done
        return Fate((done - now,))


HEADERS: Final = 64
"""Bytes that a packet has beside its message."""


def size(packet: Packet) -> int:
    """How many bytes a packet has on the wire."""
    body = packet.body
    return HEADERS if body is None or isinstance(body, RpcError) else HEADERS + len(encode(body))
