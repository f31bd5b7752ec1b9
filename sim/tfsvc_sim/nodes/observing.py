"""Observing: what a world tells whoever looks on; nothing of a run depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tfsvc.protocol.contract import Command, Event
from tfsvc.protocol.ids import Instant
from tfsvc_sim.kernel.rules import Packet, Rule

if TYPE_CHECKING:
    from tfsvc_sim.nodes.node import Node


class Observer(Protocol):
    """Looks on. Events are told by their numbers in the trace."""

    def handled(self, node: Node, event: Event, commands: Sequence[Command], number: int, what: str) -> None:
        """A node's machine was told of an event, and said something."""
        ...

    def told(self, node: Node, what: str, number: int) -> None:
        """Something happened to a node."""
        ...

    def sent(self, packet: Packet, arrivals: Sequence[Instant]) -> None:
        """A packet was sent; each copy of it arrives at its time, and none if it is lost."""
        ...

    def ruled(self, rule: Rule, in_force: bool) -> None:
        """A rule of the network was put in force or lifted."""
        ...
