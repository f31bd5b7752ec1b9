"""The ground of every world: nodes on a network, and what can be done to them, whatever they run."""

from __future__ import annotations

from collections.abc import Callable

from tfsvc.protocol.contract import Stopped
from tfsvc.protocol.ids import Instant
from tfsvc_sim.faults.fault import Fault
from tfsvc_sim.kernel.disk import Aftermath
from tfsvc_sim.kernel.engine import Engine
from tfsvc_sim.kernel.network import Installed, Network
from tfsvc_sim.kernel.rules import Packet, Rule
from tfsvc_sim.kernel.trace import Trace
from tfsvc_sim.nodes.node import Node


class Ground:
    """Nodes in simulated time, by address.

    Args:
      network: carries what they say to each other.
      keep: whether the trace stays readable.
    """

    def __init__(self, engine: Engine, network: Network, keep: bool = False) -> None:
        self.engine = engine
        self.network = network
        self.trace = Trace(keep)
        self.nodes: dict[str, Node] = {}
        self.killed: dict[str, None] = {}
        """Nodes that are dead for good, or will never begin to live."""
        self.struck_at: list[tuple[Instant, Fault]] = []
        """The faults that have begun, and when."""

    @property
    def now(self) -> Instant:
        """Nanoseconds since the world began."""
        return self.engine.now

    def at(self, when: int, do: Callable[[], None]) -> None:
        """Does ``do``, ``when`` nanoseconds from now."""
        self.engine.call_at(self.now + when, do)

    def rule(self, rule: Rule) -> Installed:
        """A rule of the network that is in force until it is removed."""
        return self.network.rule(rule)

    def crash(self, address: str, silent: bool = False, aftermath: Aftermath = Aftermath.TORN) -> None:
        """A node dies; nothing happens to one that is dead. If ``silent``, nobody is told; see ``aftermath``."""
        node = self.nodes[address]
        if node.alive:
            node.crash(silent, aftermath)

    def stop(self, address: str, grace_ns: int = 0) -> None:
        """A server is asked to end in good order, within ``grace_ns`` with nothing lost; it dies when it is ready."""
        node = self.nodes[address]
        if node.alive and not node.paused:
            node.handle(Stopped(0, grace_ns=grace_ns), "is asked to end")

    def kill(self, address: str, silent: bool = False) -> None:
        """A node dies for good; if ``silent``, nobody is told."""
        self.crash(address, silent)
        self.killed[address] = None

    def restart(self, address: str) -> None:
        """A dead node begins another life; nothing happens to one that lives, or was killed."""
        node = self.nodes[address]
        if not node.alive and address not in self.killed:
            node.start()

    def pause(self, address: str) -> None:
        """A node stands still; nothing happens to one that does, or is dead."""
        node = self.nodes[address]
        if node.alive and not node.paused:
            node.pause()

    def resume(self, address: str) -> None:
        """A node that stands still goes on."""
        node = self.nodes[address]
        if node.alive and node.paused:
            node.resume()

    def adjust_clock(self, address: str, drift_ppm: int | None = None, ahead_ns: int = 0) -> None:
        """A node's clock goes ``drift_ppm`` millionths faster from now on, if given, and leaps by ``ahead_ns``."""
        self.nodes[address].adjust(drift_ppm, ahead_ns)

    def watch_packets(self, watcher: Callable[[Packet], bool]) -> None:
        """Has ``watcher`` look at every packet; see ``Network.watch``."""
        self.network.watch(watcher)
