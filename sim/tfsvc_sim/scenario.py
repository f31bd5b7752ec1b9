"""Scenarios: a cluster, its work and its faults as one record that can be stored and shrunk."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from tfsvc.protocol.messages import OrderDef, ShardingPolicy
from tfsvc_sim.faults import Fault, FaultKind
from tfsvc_sim.workloads import Workload

BLOCK: Final = 4
"""Splits that an ordered lane is dealt at a time, of a dataset that is large enough."""


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """A worker: the slot in which it joins, and how long it makes an element."""

    joins: int = 0
    element_ms: int = 5


@dataclass(frozen=True, slots=True)
class ReaderPlan:
    """A reader: the slot in which it joins, and how it reads; see ``Habits``."""

    joins: int = 0
    think_ms: int = 2
    leave_after: int | None = None
    ahead: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """All that a run depends on.

    Attributes:
      seed: of what is not said here: latencies, ties, backoffs.
      shared: whether the readers share one named job; otherwise each has one of its own.
      lanes: of an ordered job, in which each reader is a consumer; 0 for elements as soon as they can come.
      checkpoint_every: elements between two checkpoints of a pipeline.
      tempo: the name of one of ``TEMPOS``.
    """

    seed: int = 0
    workload: Workload = field(default_factory=lambda: Workload("range", 40))
    policy: ShardingPolicy = ShardingPolicy.DYNAMIC
    workers: tuple[WorkerPlan, ...] = (WorkerPlan(),)
    readers: tuple[ReaderPlan, ...] = (ReaderPlan(),)
    shared: bool = True
    lanes: int = 0
    checkpoint_every: int = 16
    tempo: str = "usual"
    faults: tuple[Fault, ...] = ()

    @property
    def order(self) -> OrderDef:
        """The order of its jobs."""
        return OrderDef(self.lanes, BLOCK, self.seed)

    def to_json(self) -> str:
        """One line, from which ``from_json`` makes the same scenario."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Scenario:
        """The scenario of ``to_json``.

        Raises:
          ValueError: if it is not one.
        """
        try:
            got: dict[str, Any] = json.loads(text)
            return cls(
                seed=got["seed"],
                workload=Workload(**got["workload"]),
                policy=ShardingPolicy(got["policy"]),
                workers=tuple(WorkerPlan(**plan) for plan in got["workers"]),
                readers=tuple(ReaderPlan(**plan) for plan in got["readers"]),
                shared=got["shared"],
                lanes=got["lanes"],
                checkpoint_every=got["checkpoint_every"],
                tempo=got["tempo"],
                faults=tuple(Fault(**{**fault, "kind": FaultKind(fault["kind"])}) for fault in got["faults"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is not a scenario: {error}") from error
