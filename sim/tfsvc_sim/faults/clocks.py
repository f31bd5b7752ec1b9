"""Faults of clocks. The clocks of all lives start seconds apart anyway; these go wrong while they run."""

from __future__ import annotations

from dataclasses import dataclass

from tfsvc.protocol.ids import MILLISECOND
from tfsvc_sim.faults.fault import Mend, Stage


@dataclass(frozen=True, slots=True)
class ClockDrift:
    """A node's clock goes too fast, or too slowly where ``ppm`` is negative; in millionths.

    Attributes:
      node: whose; names are counted around the nodes that there are.
      ppm: by how many millionths.
    """

    node: str
    ppm: int = 200_000

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        node = stage.resolve(self.node)
        stage.adjust_clock(node, drift_ppm=self.ppm)
        return lambda: stage.adjust_clock(node, drift_ppm=0)


@dataclass(frozen=True, slots=True)
class ClockJump:
    """A node's clock leaps ahead, as when its host was asleep.

    Attributes:
      node: whose; names are counted around the nodes that there are.
      ahead_ms: by how much.
    """

    node: str
    ahead_ms: int = 5_000

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        stage.adjust_clock(stage.resolve(self.node), ahead_ns=self.ahead_ms * MILLISECOND)
        return lambda: None
