"""Pardons: faults that do not happen in one branch of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tfsvc_sim.faults import Kind
from tfsvc_sim.faults.fault import Mend, Stage


@dataclass(frozen=True)
class Pardonable:
    """A fault that does not strike when its node is pardoned by then."""

    what: Kind
    pardoned: Mapping[str, None]

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        if getattr(self.what, "node", "") in self.pardoned:
            return lambda: None
        return self.what.strike(stage, for_ns)
