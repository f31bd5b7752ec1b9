"""Recording a simulated run, by looking on: ``record`` a scenario, or put an ``Observation`` beside a world."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final, Protocol

from tfsvc.protocol.contract import Answered, Asked, Command, Event, Failed
from tfsvc.protocol.ids import MILLISECOND, SECOND, CallId, Instant
from tfsvc_sim.faults.fault import Fault
from tfsvc_sim.judging.ledger import Ledger
from tfsvc_sim.judging.verdict import Verdict
from tfsvc_sim.kernel.engine import Engine
from tfsvc_sim.kernel.network import Network
from tfsvc_sim.kernel.rules import Packet, Partition, Rule
from tfsvc_sim.kernel.trace import Trace
from tfsvc_sim.nodes.node import Node
from tfsvc_sim.nodes.telling import tell
from tfsvc_sim.nodes.tempo import Tempo
from tfsvc_sim.nodes.world import World
from tfsvc_sim.page import recording as r
from tfsvc_sim.page.builder import Builder
from tfsvc_sim.playing.play import play
from tfsvc_sim.playing.scenario import Scenario

_ROLES: Final = {
    "dispatcher": "dispatcher",
    "worker": "worker",
    "reader": "reader",
    "registrar": "caller",
    "client": "rpc-client",
}
"""What nodes do, by their names without the number; others are servers."""


class Observed(Protocol):
    """What is needed of a world."""

    @property
    def engine(self) -> Engine: ...

    @property
    def network(self) -> Network: ...

    @property
    def trace(self) -> Trace: ...

    @property
    def ledger(self) -> Ledger: ...

    @property
    def struck_at(self) -> Sequence[tuple[Instant, Fault]]: ...


class Observation:
    """Looks on at a world from now on; the run is the same as without it.

        world = World(seed=7)
        looking = Observation(world)
        ...
        page.write(looking.recording("worker 1 crashes"), "run.html")

    Args:
      world: nothing should have happened in it yet.
    """

    def __init__(self, world: Observed) -> None:
        self._world = world
        self._build = Builder()
        self._numbers: dict[int, int] = {}
        """Of events, by their numbers in the trace."""
        self._under_way: dict[tuple[CallId, bool], list[int]] = defaultdict(list)
        self._rules: list[tuple[Rule, int]] = []
        self._taken = self._struck = 0
        """How many elements and faults an earlier recording has told."""
        world.trace.observer = world.network.observer = self

    def handled(self, node: Node, event: Event, commands: Sequence[Command], number: int, what: str) -> None:
        now, place = self._world.engine.now, self._place(node)
        said = self._message_heard(event, node.address, now)
        made = self._numbers[number] = self._build.handled(now, place, event, commands, what)
        if said is not None:
            self._build.hear(said, made)
        self._build.believes(now, place, node.role.view())

    def told(self, node: Node, what: str, number: int) -> None:
        now, place = self._world.engine.now, self._place(node)
        kind = r.Kind.LIFE
        if what == "starts":
            self._build.born(place, now, node.incarnation)
        elif what in ("crashes", "loses power"):
            self._build.died(place, now, what)
        elif what == "is paused":
            self._build.paused(place, now)
        elif what == "goes on":
            self._build.resumed(place, now)
        elif what.startswith(("warning: ", "error: ", "info: ")):
            return  # the step that said so has it
        self._numbers[number] = self._build.event(now, place, kind, what)

    def sent(self, packet: Packet, arrivals: Sequence[Instant]) -> None:
        now = self._world.engine.now
        source, target = self._named(packet.source), self._named(packet.target)
        said = self._build.latest(source, self._numbers.get(packet.cause, 0), now)
        fate = r.Fate.ARRIVED if arrivals else r.Fate.LOST
        for i, arrived in enumerate(arrivals or (now,)):
            message = r.Message(now, arrived, source, target, tell(packet.body), packet.asks, fate, i > 0, said, 0)
            if arrivals:
                self._under_way[packet.call, packet.asks].append(len(self._build.messages))
            self._build.messages.append(message)

    def ruled(self, rule: Rule, in_force: bool) -> None:
        now = self._world.engine.now
        if in_force:
            if any(began == now for began, _ in self._world.struck_at[-1:]):
                return  # it is how a fault strikes, which is told itself
            self._rules.append((rule, self._build.span(-1, r.SpanKind.FAULT, now, _describe(rule))))
            return
        for i, (known, span) in enumerate(self._rules):
            if known is rule:
                self._build.close(span, now)
                del self._rules[i]
                return

    def recording(
        self, title: str, facts: Mapping[str, str] | None = None, problems: Sequence[str] = ()
    ) -> r.Recording:
        """What was seen so far.

        Args:
          facts: what else there is to say of the run.
          problems: what oracles found wrong with it.
        """
        for taking in self._world.ledger.takings[self._taken :]:
            self._build.took(taking)
        self._taken = len(self._world.ledger.takings)
        for began, fault in self._world.struck_at[self._struck :]:
            span = self._build.span(-1, r.SpanKind.FAULT, began, _describe(fault.what))
            if fault.for_ms is not None:
                self._build.close(span, began + fault.for_ms * MILLISECOND)
        self._struck = len(self._world.struck_at)
        told = {
            **(facts or {}),
            "source": "simulation",
            "simulated time": f"{self._world.engine.now / SECOND:.3f} s",
            "events": f"{self._world.trace.count:,}",
            "trace hash": self._world.trace.digest(),
        }
        return self._build.recording(title, self._world.engine.now, tuple(told.items()), problems)

    def _place(self, node: Node) -> int:
        return self._named(node.address)

    def _named(self, address: str) -> int:
        return self._build.node(address, _ROLES.get(address.rstrip("0123456789"), "server"))

    def _message_heard(self, event: Event, target: str, now: Instant) -> int | None:
        """The number of the message that an event is about: the oldest copy that has arrived and was not heard."""
        match event:
            case Asked(call):
                key = call, True
            case Answered(call) | Failed(call):
                key = call, False
            case _:
                return None
        for number in self._under_way.get(key, ()):
            message = self._build.messages[number]
            if message.arrived <= now and message.target == self._named(target):
                self._under_way[key].remove(number)
                return number
        return None


def record(scenario: Scenario, title: str = "") -> tuple[Verdict, r.Recording]:
    """Plays a scenario: the verdict, and what was seen.

    Raises:
      ValueError: see ``play.stage``.
    """
    looking: list[Observation] = []

    def make(seed: int, tempo: Tempo) -> World:
        world = World(seed, tempo)
        looking.append(Observation(world))
        return world

    verdict = play(scenario, make)
    facts = {"seed": str(scenario.seed), "scenario": scenario.to_json()}
    return verdict, looking[0].recording(title or f"seed {scenario.seed}", facts, verdict.problems)


def _describe(record: Any) -> str:
    """A rule or a fault: its kind, and what is special about it."""
    if isinstance(record, Partition):
        arrow = "→" if record.oneway else "↔"
        return f"no packets {', '.join(sorted(record.ones))} {arrow} {', '.join(sorted(record.others))}"
    if not is_dataclass(record):
        return str(record)
    given = ((field.name, getattr(record, field.name)) for field in fields(record))
    told = ", ".join(filter(None, (_told(name, value) for name, value in given)))
    return f"{type(record).__name__}: {told}" if told else type(record).__name__


def _told(name: str, value: object) -> str:
    """A field, unless it says nothing; records within records are known by their kinds."""
    if value is None or value is False or value in ("", (), frozenset()):
        return ""
    if is_dataclass(value):
        return _describe(value)
    if isinstance(value, frozenset):
        value = ", ".join(map(str, sorted(value)))
    return name if value is True else f"{name} {value}"
