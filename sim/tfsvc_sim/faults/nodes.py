"""Faults of processes: they crash, end, stand still, and work slowly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tfsvc.protocol.ids import MILLISECOND
from tfsvc_sim.faults.fault import Mend, Stage
from tfsvc_sim.kernel.disk import Aftermath

SLOWED: Final = 8
"""How many times slower a slow node is."""
NOTICE_MS: Final = 100
"""How long before it is taken a preempted worker is told; some minutes in a cloud."""


@dataclass(frozen=True, slots=True)
class Crash:
    """A process dies, and is started again when the fault is over; its callers are told by a reset.

    A reader that died stays dead: its application died with it.

    Attributes:
      node: which.
      disk: what of the dispatcher's journal the next life finds.
      silent: nobody is told, as when a host loses power.
    """

    node: str
    disk: Aftermath = Aftermath.TORN
    silent: bool = False

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        node = stage.resolve(self.node)
        if for_ns is None or node in stage.readers:
            stage.kill(node, self.silent)
        else:
            stage.crash(node, self.silent, self.disk)
        return lambda: stage.restart(node)


@dataclass(frozen=True, slots=True)
class Stop:
    """A worker is asked to end in good order, and is started again when the fault is over.

    Attributes:
      node: which.
    """

    node: str

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        node = _worker(stage, self.node)
        stage.stop(node)

        def again() -> None:
            stage.crash(node)
            stage.at(1, lambda: stage.restart(node))

        return again


@dataclass(frozen=True, slots=True)
class Preempt:
    """A spot instance is taken back: its worker is asked to end, dies after the notice, and comes back later.

    Attributes:
      node: which.
      notice_ms: how long before its end it is told.
    """

    node: str
    notice_ms: int = NOTICE_MS

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        node = _worker(stage, self.node)
        stage.stop(node)
        take = stage.kill if for_ns is None else stage.crash
        notice = self.notice_ms * MILLISECOND if for_ns is None else min(self.notice_ms * MILLISECOND, for_ns - 1)
        stage.at(notice, lambda: take(node, True))
        return lambda: stage.restart(node)


@dataclass(frozen=True, slots=True)
class Pause:
    """A process stands still, as in a long collection of garbage, and then finds everything that came meanwhile.

    Attributes:
      node: which.
    """

    node: str

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        node = stage.resolve(self.node)
        stage.pause(node)
        return lambda: stage.resume(node)


@dataclass(frozen=True, slots=True)
class Slow:
    """A worker runs pipelines ``factor`` times as long as usual, and answers as fast as ever.

    Attributes:
      node: which.
      factor: how many times as long.
    """

    node: str
    factor: int = SLOWED

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        node = stage.resolve(self.node)
        stage.slow_down(node, self.factor)
        return lambda: stage.slow_down(node, 1)


def _worker(stage: Stage, name: str) -> str:
    node = stage.resolve(name)
    if node not in stage.workers:
        raise ValueError(f"{name} is no worker, and nobody else can be asked to end")
    return node
