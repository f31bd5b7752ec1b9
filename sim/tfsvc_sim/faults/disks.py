"""Faults of the dispatcher's disk. One that cannot be written ends the dispatcher; somebody starts it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tfsvc.protocol.ids import MILLISECOND
from tfsvc_sim.faults.fault import Mend, Stage
from tfsvc_sim.kernel.disk import Aftermath, Trouble

AGAIN_NS: Final = 100 * MILLISECOND
"""How long a supervisor waits before it starts a dispatcher again that has failed."""


@dataclass(frozen=True, slots=True)
class FullDisk:
    """There is no space left: the next record ends the dispatcher. It is started when there is some.

    Attributes:
      node: whose disk.
    """

    node: str = "dispatcher"

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        node = stage.resolve(self.node)
        stage.trouble(node, Trouble.FULL)
        return lambda: _mend(stage, node)


@dataclass(frozen=True, slots=True)
class DiskErrors:
    """Some records cannot be written, each of which ends the dispatcher; it is started again at once.

    Attributes:
      node: whose disk.
    """

    node: str = "dispatcher"

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        node = stage.resolve(self.node)
        stage.trouble(node, Trouble.ERRORS)
        active = [True]

        def supervise() -> None:
            if active:
                stage.restart(node)
                stage.at(AGAIN_NS, supervise)

        def mend() -> None:
            active.clear()
            _mend(stage, node)

        supervise()
        return mend


@dataclass(frozen=True, slots=True)
class UnreadableDisk:
    """The dispatcher dies, and cannot begin its next life before its disk can be read.

    Attributes:
      node: whose disk.
    """

    node: str = "dispatcher"

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        node = stage.resolve(self.node)
        stage.crash(node)
        stage.trouble(node, Trouble.UNREADABLE)
        stage.at(AGAIN_NS if for_ns is None else for_ns // 2, lambda: stage.restart(node))
        return lambda: _mend(stage, node)


@dataclass(frozen=True, slots=True)
class SlowDisk:
    """Every sync takes ``factor`` times as long.

    Attributes:
      node: whose disk.
      factor: how many times as long.
    """

    node: str = "dispatcher"
    factor: int = 20

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        node = stage.resolve(self.node)
        stage.slow_disk(node, self.factor)
        return lambda: stage.slow_disk(node, 1)


@dataclass(frozen=True, slots=True)
class BitRot:
    """The dispatcher dies, and a bit of its journal has changed: it refuses to begin until there is a good copy.

    Attributes:
      node: whose disk.
    """

    node: str = "dispatcher"

    def strike(self, stage: Stage, for_ns: int | None) -> Mend:
        node = stage.resolve(self.node)
        stage.crash(node, aftermath=Aftermath.LOST)
        stage.rot(node, True)
        stage.at(AGAIN_NS if for_ns is None else for_ns // 2, lambda: stage.restart(node))

        def restore() -> None:
            stage.rot(node, False)
            stage.restart(node)

        return restore


def _mend(stage: Stage, node: str) -> None:
    stage.trouble(node, None)
    stage.restart(node)
