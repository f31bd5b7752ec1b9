"""Rules: what becomes of a packet on its way. Faults of the network are rules that come and go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from tfsvc.errors import RpcError
from tfsvc.protocol.ids import CallId
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import Request, Response


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a packet: one copy for each of ``delays_ns``, each that much later than usual."""

    delays_ns: tuple[int, ...]


PASS: Final = Verdict((0,))
DROP: Final = Verdict(())


class Rule(Protocol):
    """Judges packets; the first rule that does not say ``PASS`` decides."""

    def verdict(self, packet: Packet, luck: Luck) -> Verdict:
        """``luck`` belongs to this rule alone."""
        ...


@dataclass(frozen=True, slots=True)
class Partition:
    """Nothing passes between two groups of addresses; ``oneway``: only from the first to the second."""

    ones: frozenset[str]
    others: frozenset[str]
    oneway: bool = False

    def verdict(self, packet: Packet, luck: Luck) -> Verdict:
        if packet.source in self.ones and packet.target in self.others:
            return DROP
        if not self.oneway and packet.source in self.others and packet.target in self.ones:
            return DROP
        return PASS


@dataclass(frozen=True, slots=True)
class Loss:
    """A share of packets is lost."""

    share: float

    def verdict(self, packet: Packet, luck: Luck) -> Verdict:
        return DROP if luck.unit() < self.share else PASS


@dataclass(frozen=True, slots=True)
class Duplication:
    """A share of packets comes twice, the second time up to ``later_ns`` later."""

    share: float
    later_ns: int

    def verdict(self, packet: Packet, luck: Luck) -> Verdict:
        return Verdict((0, luck.below(self.later_ns))) if luck.unit() < self.share else PASS


@dataclass(frozen=True, slots=True)
class Reordering:
    """A share of packets comes up to ``later_ns`` late, behind others that were sent after it."""

    share: float
    later_ns: int

    def verdict(self, packet: Packet, luck: Luck) -> Verdict:
        return Verdict((luck.below(self.later_ns),)) if luck.unit() < self.share else PASS
