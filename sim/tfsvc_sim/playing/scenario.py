"""Scenarios: a cluster, its work and its faults as one record that can be stored and shrunk."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from tfsvc.protocol.messages import OrderDef, ShardingPolicy
from tfsvc_sim.faults import Fault
from tfsvc_sim.nodes.tempo import TEMPOS
from tfsvc_sim.playing.records import from_plain, to_plain
from tfsvc_sim.playing.workloads import KINDS, Workload

BLOCK: Final = 4
"""Splits that an ordered lane is dealt at a time, of a dataset that is large enough."""


class Outcome(StrEnum):
    """How a scenario must end."""

    DELIVERED = "delivered"
    """Every reader has its end, and every element came as often as the policy promises."""
    STATE_LOST = "state lost"
    """Readers are told that the dispatcher has lost its state; until then nothing came twice."""
    NO_SERVICE = "no service"
    """Readers wait for a service that is not there; until then nothing came twice, and nothing was made up."""


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """A worker.

    Attributes:
      joins_ms: when it joins, from the moment on in which readers begin; 0 for before.
      element_ms: how long it makes an element.
    """

    joins_ms: int = 0
    element_ms: int = 5


@dataclass(frozen=True, slots=True)
class ReaderPlan:
    """A reader.

    Attributes:
      joins_ms: when it begins to read.
      think_ms: how long its application is busy with an element.
      leave_after: how many elements it takes before it leaves; ``None`` for all there are.
      ahead: whether it asks for the next batch while it is busy with the last one.
    """

    joins_ms: int = 0
    think_ms: int = 2
    leave_after: int | None = None
    ahead: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """All that a run depends on.

    Attributes:
      seed: of what is not said here: latencies, ties, backoffs.
      workload: what is read.
      policy: how it is sharded.
      workers: a plan for each; :func:`workers` makes them.
      readers: a plan for each; :func:`readers` makes them.
      faults: what goes wrong.
      shared: whether the readers share one named job; otherwise each has one of its own.
      lanes: of an ordered job, in which each reader is a consumer; 0 for elements as soon as they can come.
      checkpoint_every: elements between two checkpoints of a pipeline.
      tempo: the name of one of ``TEMPOS``.
      calm_after: from which choice on the schedule follows no luck any more: packets take the same time, and
        what is due at one instant happens in the order in which it was planned; ``None`` for never.
      outcome: how it must end.
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
    calm_after: int | None = None
    outcome: Outcome = Outcome.DELIVERED

    def __post_init__(self) -> None:
        if self.tempo not in TEMPOS:
            raise ValueError(f"there is no tempo {self.tempo!r}; there are {', '.join(TEMPOS)}")
        if self.workload.kind not in KINDS:
            raise ValueError(f"there is no workload {self.workload.kind!r}; there are {', '.join(KINDS)}")
        if not self.workers or not self.readers:
            raise ValueError("a scenario has at least one worker and one reader")

    @property
    def order(self) -> OrderDef:
        """The order of its jobs."""
        return OrderDef(self.lanes, BLOCK, self.seed)

    def to_json(self) -> str:
        """One line, from which ``from_json`` makes the same scenario."""
        return json.dumps(to_plain(self))

    @classmethod
    def from_json(cls, text: str) -> Scenario:
        """The scenario of which ``text`` is the ``to_json``.

        Raises:
          ValueError: if it is not one, naming the place that is wrong.
        """
        found: Scenario = from_plain(cls, json.loads(text))
        return found


def workers(count: int, element_ms: int = 5) -> tuple[WorkerPlan, ...]:
    """``count`` workers that are there from the beginning and make an element in ``element_ms``."""
    return (WorkerPlan(element_ms=element_ms),) * count


def readers(count: int, think_ms: int = 2) -> tuple[ReaderPlan, ...]:
    """``count`` readers that begin together, take ``think_ms`` for an element, and read to the end."""
    return (ReaderPlan(think_ms=think_ms),) * count
