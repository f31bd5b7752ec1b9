"""The network: carries packets between addresses, late, twice or not at all, as its rules say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Final

from tfsvc.errors import Code, Outcome, RpcError
from tfsvc.protocol.ids import MILLISECOND, Instant
from tfsvc.protocol.luck import Luck
from tfsvc_sim.kernel.engine import Engine
from tfsvc_sim.kernel.rules import HOLD, PASS, Always, Fate, Match, Only, Packet, Rule
from tfsvc_sim.nodes.observing import Observer

Translate = Callable[[Packet], Packet]
"""A packet as it comes out of the wire's codec at the other end."""
Watcher = Callable[[Packet], bool]
"""Looks at a packet; whether it must wait a nanosecond, since something is to happen first."""

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

    def __init__(self, rule: Rule, luck: Luck, network: Network) -> None:
        self.rule = rule
        self.luck = luck
        self.held: list[Packet] = []
        """The packets that wait for their release, oldest first."""
        self._network = network

    def remove(self) -> None:
        """Lifts the rule and releases what it holds; a second time does nothing."""
        self._network.lift(self)
        self.release()

    def release(self, count: int | None = None) -> None:
        """Sends the oldest ``count`` of the held packets on, or all, past this rule."""
        going, self.held = self.held[:count], self.held[len(self.held[:count]) :]
        for packet in going:
            self._network.carry(packet, passed=self)

    def discard(self) -> None:
        """Drops what is held."""
        self.held.clear()

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
        self.rules: list[Installed] = []
        """Those in force, in the order in which they are asked."""
        self._installed = 0
        self._watchers: list[Watcher] = []

    def listen(self, address: str, receive: Callable[[Packet], None]) -> None:
        self._listeners[address] = receive

    def deafen(self, address: str) -> None:
        """Nobody listens there any more."""
        self._listeners.pop(address, None)

    def rule(self, rule: Rule) -> Installed:
        """Puts a rule in force, behind those that are."""
        self._installed += 1
        installed = Installed(rule, self._luck.stream(f"rule/{self._installed}"), self)
        self.rules.append(installed)
        if self.observer is not None:
            self.observer.ruled(rule, True)
        return installed

    def hold(self, match: Match = Match()) -> Installed:  # noqa: B008
        """Keeps packets that ``match`` until they are released: for tests that decide themselves what comes when."""
        return self.rule(Only(match, Always(HOLD)))

    def lift(self, installed: Installed) -> None:
        """Takes a rule out of force."""
        if installed in self.rules:
            self.rules.remove(installed)
            if self.observer is not None:
                self.observer.ruled(installed.rule, False)

    def watch(self, watcher: Watcher) -> None:
        """Has somebody look at every request that arrives and every answer that leaves, before anything else does."""
        self._watchers.append(watcher)

    def send(self, packet: Packet) -> None:
        self.sent += 1
        if self._watchers and not packet.asks and self._postpones(packet):
            self._engine.call_at(self._engine.now + 1, self._leave, packet)
        else:
            self.carry(packet)

    def carry(self, packet: Packet, passed: Installed | None = None) -> None:
        """Brings a packet under way, past the rule ``passed`` and those before it."""
        fate = self._fate(packet, passed) if self.rules else PASS
        if fate.instead is not None:
            packet = fate.instead
        engine, delays = self._engine, fate.delays_ns
        ties, now, only = engine.ties, engine.now, len(delays) == 1
        link = packet.source, packet.target
        luck = self._links.get(link)
        if luck is None:
            luck = self._links[link] = self._luck.stream(f"{packet.source}>{packet.target}")
        arrivals: list[Instant] = []
        for delay in delays:
            taken = self._latency.draw(luck)
            if ties.drawn >= ties.calm_after:
                taken = self._latency.ns_min
            at = now + taken + delay
            arrivals.append(at)
            if fate.garbled:
                engine.call_at(at, self._reset, packet)
            else:
                engine.call_at(at, self._arrive, packet, only)
        if self.observer is not None and not fate.held:
            self.observer.sent(packet, () if fate.garbled else arrivals)

    def _fate(self, packet: Packet, passed: Installed | None) -> Fate:
        """What the first rule says that does not let the packet pass."""
        rules = self.rules
        if passed is not None and passed in rules:
            rules = rules[rules.index(passed) + 1 :]
        for installed in rules:
            fate = installed.rule.fate(packet, installed.luck, self._engine.now)
            if fate is not PASS:
                if fate.held:
                    installed.held.append(packet)
                return fate
        return PASS

    def refuse(self, packet: Packet, error: RpcError = REFUSED) -> None:
        """Sends word back that a request came to nothing."""
        self.send(Packet(packet.target, packet.source, packet.call, error, False, packet.cause))

    def _leave(self, packet: Packet) -> None:
        """An answer that was postponed leaves if its node still lives."""
        if packet.source in self._listeners:
            self.carry(packet)

    def _postpones(self, packet: Packet) -> bool:
        """Whether anybody wants something to happen before the packet goes on."""
        return sum(watcher(packet) for watcher in tuple(self._watchers)) > 0

    def _reset(self, packet: Packet) -> None:
        """What does not check out ends the connection: the caller hears of that, and no more."""
        if packet.asks:
            self.refuse(packet, RESET)
        else:
            self._deliver(replace(packet, body=RESET), True)

    def _arrive(self, packet: Packet, only: bool) -> None:
        if self._watchers and packet.asks and self._postpones(packet):
            self._engine.call_at(self._engine.now + 1, self._deliver, packet, only)
        else:
            self._deliver(packet, only)

    def _deliver(self, packet: Packet, only: bool) -> None:
        receive = self._listeners.get(packet.target)
        if receive is not None:
            receive(packet if self._translate is None else self._translate(packet))
        elif packet.asks and packet.body is not None and only:
            self.refuse(packet)
