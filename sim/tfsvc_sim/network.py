"""The network: carries packets between addresses, late, twice or not at all, as its rules say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Final

from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.luck import Luck
from tfsvc_sim.engine import Engine
from tfsvc_sim.observing import Observer
from tfsvc_sim.rules import PASS, Packet, Rule

Translate = Callable[[Packet], Packet]
"""A packet as it comes out of the wire's codec at the other end."""

REFUSED: Final = RpcError(Code.UNAVAILABLE, "connection refused", Outcome.UNREACHED)
RESET: Final = RpcError(Code.UNAVAILABLE, "connection reset", Outcome.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Latency:
    """How long a packet takes: uniform in a range, and ``slow`` times that for one in sixteen."""

    ns_min: int = MILLISECOND // 5
    ns_max: int = MILLISECOND
    slow: int = 4

    def draw(self, luck: Luck) -> int:
        bits = luck.bits()
        taken = self.ns_min + (bits >> 8) % (self.ns_max - self.ns_min + 1)
        return taken if bits & 15 else taken * self.slow


class Installed:
    """A rule that is in force; leaving the ``with`` block, or :meth:`remove`, lifts it."""

    def __init__(self, rule: Rule, luck: Luck, lift: Callable[[Installed], None]) -> None:
        self.rule = rule
        self.luck = luck
        self._lift = lift

    def remove(self) -> None:
        """Lifts the rule; a second time does nothing."""
        self._lift(self)

    def __enter__(self) -> Installed:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.remove()


class Network:
    """Carries packets to whoever listens at their target.

    A request to an address where nobody listens is refused, which is a definite failure. One that comes twice is not:
    its other copy may have been heard.

    Args:
      luck: each link and each rule has a stream of its own below it.
      latency: of every packet that no rule delays.
      translate: what the wire does to a packet; nothing when not given.
    """

    def __init__(
        self, engine: Engine, luck: Luck, latency: Latency | None = None, translate: Translate | None = None
    ) -> None:
        self.sent = 0
        self.observer: Observer | None = None
        """Is told of packets and rules."""
        self._engine = engine
        self._luck = luck
        self._latency = latency or Latency()
        self._translate = translate
        self._links: dict[tuple[str, str], Luck] = {}
        self._listeners: dict[str, Callable[[Packet], None]] = {}
        self._rules: list[Installed] = []
        self._installed = 0

    def listen(self, address: str, receive: Callable[[Packet], None]) -> None:
        self._listeners[address] = receive

    def deafen(self, address: str) -> None:
        """Nobody listens there any more."""
        self._listeners.pop(address, None)

    def rule(self, rule: Rule) -> Installed:
        """Puts a rule in force, behind those that are."""
        self._installed += 1
        installed = Installed(rule, self._luck.stream(f"rule/{self._installed}"), self._lift)
        self._rules.append(installed)
        if self.observer is not None:
            self.observer.ruled(rule, True)
        return installed

    def send(self, packet: Packet) -> None:
        self.sent += 1
        verdict = PASS
        for installed in self._rules:
            verdict = installed.rule.verdict(packet, installed.luck)
            if verdict is not PASS:
                break
        arrivals = []
        for delay in verdict.delays_ns:
            taken = self._latency.draw(self._link(packet.source, packet.target))
            only = len(verdict.delays_ns) == 1
            arrivals.append(self._engine.now + taken + delay)
            self._engine.call_at(arrivals[-1], self._arrive, packet, only)
        if self.observer is not None:
            self.observer.sent(packet, arrivals)

    def refuse(self, packet: Packet, error: RpcError = REFUSED) -> None:
        """Sends word back that a request came to nothing."""
        self.send(Packet(packet.target, packet.source, packet.call, error, False, packet.cause))

    def _arrive(self, packet: Packet, only: bool) -> None:
        receive = self._listeners.get(packet.target)
        if receive is not None:
            receive(packet if self._translate is None else self._translate(packet))
        elif packet.asks and only:
            self.refuse(packet)

    def _link(self, source: str, target: str) -> Luck:
        luck = self._links.get((source, target))
        if luck is None:
            luck = self._links[source, target] = self._luck.stream(f"{source}>{target}")
        return luck

    def _lift(self, installed: Installed) -> None:
        if installed in self._rules:
            self._rules.remove(installed)
            if self.observer is not None:
                self.observer.ruled(installed.rule, False)
