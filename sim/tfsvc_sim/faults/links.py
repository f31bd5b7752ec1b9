"""Faults of the network. Each is a rule that is in force as long as the fault lasts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from tfsvc.protocol.ids import MILLISECOND
from tfsvc_sim.faults.fault import Mend, Stage
from tfsvc_sim.kernel.rules import (
    DROP,
    HOLD,
    Always,
    Bottleneck,
    Corruption,
    Delay,
    Duplication,
    Loss,
    Match,
    Only,
    Partition,
    Reordering,
    Rule,
)

SHARE: Final = 0.15
"""Of packets that a faulty network loses, repeats or delays."""
LATE_MS: Final = 80
"""How much later a delayed packet comes at the most."""


def _while(stage: Stage, *rules: Rule) -> Mend:
    """Puts rules in force; what lifts them all."""
    installed = [stage.rule(rule) for rule in rules]

    def lift() -> None:
        for one in installed:
            one.remove()

    return lift


@dataclass(frozen=True, slots=True)
class Lose:
    """A share of all packets is lost."""

    share: float = SHARE

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        return _while(stage, Loss(self.share))


@dataclass(frozen=True, slots=True)
class LoseCalls:
    """All calls of one method are lost, as ``ReleaseIterationClient``; those of ``node``, or everybody's."""

    method: str
    node: str = ""

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        node = stage.resolve(self.node) if self.node else ""
        return _while(stage, Only(Match(node, method=self.method, asks=True), Always(DROP)))


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A share of all packets comes twice, the second time up to ``later_ms`` later."""

    share: float = SHARE
    later_ms: int = LATE_MS

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        return _while(stage, Duplication(self.share, self.later_ms * MILLISECOND))


@dataclass(frozen=True, slots=True)
class Reorder:
    """A share of all packets is overtaken by others.

    Attributes:
      share: of the packets, from 0 to 1.
      later_ms: how much later one comes at the most.
    """

    share: float = SHARE
    later_ms: int = LATE_MS

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        return _while(stage, Reordering(self.share, self.later_ms * MILLISECOND))


@dataclass(frozen=True, slots=True)
class Corrupt:
    """A share of all packets is garbled; checksums notice that, and the connection is reset."""

    share: float = SHARE

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        return _while(stage, Corruption(self.share))


@dataclass(frozen=True, slots=True)
class Late:
    """Whatever a node sends or gets comes up to ``later_ms`` late."""

    node: str
    later_ms: int = LATE_MS

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        node, delay = stage.resolve(self.node), Delay(self.later_ms * MILLISECOND)
        return _while(stage, Only(Match(source=node), delay), Only(Match(target=node), delay))


@dataclass(frozen=True, slots=True)
class Cut:
    """Nothing passes between two nodes, or one and everybody; ``oneway``: only what the first one sends is lost.

    Attributes:
      one: the first node.
      other: the second; everybody when empty.
      oneway: whether only what the first sends is lost.
    """

    one: str
    other: str = ""
    oneway: bool = False

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        one = frozenset({stage.resolve(self.one)})
        if self.other:
            return _while(stage, Partition(one, frozenset({stage.resolve(self.other)}), self.oneway))
        everybody = frozenset({*stage.workers, *stage.readers, stage.resolve("dispatcher")})
        return _while(stage, Partition(one, everybody - one, self.oneway))


@dataclass(frozen=True, slots=True)
class Clog:
    """Whatever a node sends or gets waits, and comes all at once when the fault is over."""

    node: str

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        return clog(stage, stage.resolve(self.node))


@dataclass(frozen=True, slots=True)
class Swizzle:
    """Nodes are clogged one after the other, and freed one after the other in another order.

    Attributes:
      nodes: how many: the dispatcher first, then workers.
      shuffle: the number of the order in which they are freed.
    """

    nodes: int = 3
    shuffle: int = 1

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        those = ["dispatcher", *stage.workers][: self.nodes]
        clogged: dict[str, Mend] = {}
        pace = (200 * MILLISECOND if for_ns is None else for_ns) // (2 * len(those) + 1)

        def begin(name: str) -> None:
            clogged[name] = clog(stage, stage.resolve(name))

        def free(name: str) -> None:
            if name in clogged:
                clogged.pop(name)()

        for place, name in enumerate(those):
            stage.at(place * pace, partial(begin, name))
        left, turn = list(those), self.shuffle
        for place in range(len(those)):
            turn, index = divmod(turn, len(left))
            stage.at((len(those) + place) * pace, partial(free, left.pop(index)))

        def free_all() -> None:
            for name in tuple(clogged):
                free(name)

        return free_all


def clog(stage: Stage, node: str) -> Mend:
    """Holds what a node sends and gets until it is freed."""
    return _while(stage, Only(Match(source=node), Always(HOLD)), Only(Match(target=node), Always(HOLD)))


@dataclass(frozen=True, slots=True)
class Throttle:
    """Each link of a node carries only so many bytes a second, and drops what finds its queue full.

    Attributes:
      node: which.
      bytes_per_s: what a link carries.
      queue_bytes: what waits before the rest is dropped.
    """

    node: str
    bytes_per_s: int = 20_000
    queue_bytes: int = 4_000

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        return _while(stage, Bottleneck(stage.resolve(self.node), self.bytes_per_s, self.queue_bytes))
