"""Faults: what goes wrong in a run, as records that can be stored, shrunk and played again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from tfsvc.protocol.ids import MILLISECOND
from tfsvc_sim.disk import Trouble
from tfsvc_sim.network import Installed
from tfsvc_sim.rules import Duplication, Loss, Partition, Reordering, Rule

SLOT_NS: Final = 50 * MILLISECOND
"""Faults begin and end at multiples of this, so that shrinking moves them to round places."""


class FaultKind(StrEnum):
    """From mild to severe, which is the way they shrink."""

    SLOW = "slow worker"
    REORDER = "reordered packets"
    DUPLICATE = "duplicated packets"
    LOSS = "lost packets"
    STOP = "worker stopped in good order"
    PAUSE = "paused worker"
    CUT_READER_ONEWAY = "reader hears nothing from a worker"
    CUT_READER = "reader cut off from a worker"
    CUT_DISPATCHER_ONEWAY = "worker hears nothing from the dispatcher"
    CUT_DISPATCHER = "worker cut off from the dispatcher"
    CUT_READER_DISPATCHER = "reader cut off from the dispatcher"
    CRASH = "worker crash"
    POWER_LOSS = "worker power loss"
    KILL = "worker crash for good"
    RESTART_DISPATCHER = "dispatcher crash"
    FULL_DISK = "full disk of the dispatcher"
    UNREADABLE_DISK = "unreadable disk of the dispatcher"
    KILL_READER = "reader crash for good"


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Attributes:
      slot: when it begins.
      kind: what happens.
      target: to which worker or reader, counted around their number.
      span: how many slots it lasts, at least one.
    """

    slot: int
    kind: FaultKind
    target: int = 0
    span: int = 1


class Stage(Protocol):
    """What faults need of a world."""

    @property
    def workers(self) -> Sequence[str]: ...

    @property
    def readers(self) -> Sequence[str]: ...

    @property
    def dispatcher(self) -> str: ...

    def at(self, when: int, do: Callable[[], None]) -> None: ...

    def rule(self, rule: Rule) -> Installed: ...

    def crash(self, address: str, silent: bool = False) -> None: ...

    def restart(self, address: str) -> None: ...

    def pause(self, address: str) -> None: ...

    def resume(self, address: str) -> None: ...

    def slow_down(self, address: str, factor: int) -> None: ...

    def kill(self, address: str) -> None: ...

    def stop(self, address: str) -> None: ...

    def trouble(self, address: str, trouble: Trouble | None) -> None: ...


SLOWED: Final = 8
"""How many times slower a slow worker is."""
SHARE: Final = 0.15
"""Of packets that a faulty network loses, repeats or delays."""
LATE_NS: Final = 80 * MILLISECOND
"""How much later a delayed packet comes at the most."""


def apply(faults: Sequence[Fault], stage: Stage) -> int:
    """Plans all faults, counted from now, and returns when the last of them is over, in nanoseconds from now.

    Every pair of a crash and a restart concerns a node that is up, and one worker is never killed.
    """
    end = 0
    killed: dict[str, None] = {}
    for fault in faults:
        begin, over = fault.slot * SLOT_NS, (fault.slot + fault.span) * SLOT_NS
        end = max(end, over)
        worker = stage.workers[fault.target % len(stage.workers)]
        if fault.kind is FaultKind.KILL:
            if len(killed) + (worker not in killed) >= len(stage.workers):
                continue
            killed[worker] = None
        _plan(fault.kind, stage, worker, stage.readers[fault.target % len(stage.readers)], begin, over)
    return end


def _plan(kind: FaultKind, stage: Stage, worker: str, reader: str, begin: int, over: int) -> None:
    rule = _rule(kind, worker, reader, stage.dispatcher)
    if rule is not None:
        installed: list[Installed] = []
        stage.at(begin, lambda: installed.append(stage.rule(rule)))
        stage.at(over, lambda: installed[0].remove())
        return
    match kind:
        case FaultKind.SLOW:
            stage.at(begin, lambda: stage.slow_down(worker, SLOWED))
            stage.at(over, lambda: stage.slow_down(worker, 1))
        case FaultKind.STOP:
            stage.at(begin, lambda: stage.stop(worker))
            stage.at(over, lambda: stage.crash(worker))
            stage.at(over + 1, lambda: stage.restart(worker))
        case FaultKind.PAUSE:
            stage.at(begin, lambda: stage.pause(worker))
            stage.at(over, lambda: stage.resume(worker))
        case FaultKind.CRASH:
            stage.at(begin, lambda: stage.crash(worker))
            stage.at(over, lambda: stage.restart(worker))
        case FaultKind.POWER_LOSS:
            stage.at(begin, lambda: stage.crash(worker, silent=True))
            stage.at(over, lambda: stage.restart(worker))
        case FaultKind.KILL:
            stage.at(begin, lambda: stage.kill(worker))
        case FaultKind.KILL_READER:
            stage.at(begin, lambda: stage.kill(reader))
        case FaultKind.RESTART_DISPATCHER:
            stage.at(begin, lambda: stage.crash(stage.dispatcher))
            stage.at(over, lambda: stage.restart(stage.dispatcher))
        case FaultKind.FULL_DISK:
            # Its next record ends the dispatcher; it is started again when there is space.
            stage.at(begin, lambda: stage.trouble(stage.dispatcher, Trouble.FULL))
            stage.at(over, lambda: _mend(stage))
        case FaultKind.UNREADABLE_DISK:
            stage.at(begin, lambda: stage.crash(stage.dispatcher))
            stage.at(begin, lambda: stage.trouble(stage.dispatcher, Trouble.UNREADABLE))
            stage.at((begin + over) // 2, lambda: stage.restart(stage.dispatcher))
            stage.at(over, lambda: _mend(stage))
        case _:
            raise AssertionError(kind)


def _mend(stage: Stage) -> None:
    stage.trouble(stage.dispatcher, None)
    stage.restart(stage.dispatcher)


def _rule(kind: FaultKind, worker: str, reader: str, dispatcher: str) -> Rule | None:
    """The rule of the network that a fault is, if it is one."""
    w, r, d = frozenset({worker}), frozenset({reader}), frozenset({dispatcher})
    match kind:
        case FaultKind.REORDER:
            return Reordering(SHARE, LATE_NS)
        case FaultKind.DUPLICATE:
            return Duplication(SHARE, LATE_NS)
        case FaultKind.LOSS:
            return Loss(SHARE)
        case FaultKind.CUT_READER_ONEWAY:
            return Partition(w, r, oneway=True)
        case FaultKind.CUT_READER:
            return Partition(w, r)
        case FaultKind.CUT_DISPATCHER_ONEWAY:
            return Partition(d, w, oneway=True)
        case FaultKind.CUT_DISPATCHER:
            return Partition(d, w)
        case FaultKind.CUT_READER_DISPATCHER:
            return Partition(d, r)
        case _:
            return None
