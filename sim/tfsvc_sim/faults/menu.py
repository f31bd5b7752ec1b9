"""The menu: the kinds of faults that random runs draw from, all of which exactly-once delivery survives."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, assert_never

from tfsvc_sim.faults.clocks import ClockDrift, ClockJump
from tfsvc_sim.faults.disks import BitRot, DiskErrors, FullDisk, SlowDisk, UnreadableDisk
from tfsvc_sim.faults.fault import Fault, Kind
from tfsvc_sim.faults.links import Clog, Corrupt, Cut, Duplicate, Late, Lose, LoseCalls, Reorder, Swizzle, Throttle
from tfsvc_sim.faults.nodes import Crash, Pause, Preempt, Slow, Stop
from tfsvc_sim.faults.versions import OldVersion
from tfsvc_sim.kernel.disk import Aftermath

SLOT_MS: Final = 50
"""Random faults begin and end at multiples of this, so that shrinking moves them to round places."""


class FaultKind(StrEnum):
    """From mild to severe, which is the way they shrink."""

    SLOW = "slow worker"
    SLOW_DISK = "slow disk of the dispatcher"
    LATE = "late packets of a worker"
    THROTTLE = "narrow links of a worker"
    REORDER = "reordered packets"
    DUPLICATE = "duplicated packets"
    CLOCK_FAST = "fast clock of a worker"
    CLOCK_SLOW = "slow clock of the dispatcher"
    CLOCK_JUMP = "clock of the dispatcher leaps ahead"
    OLD_WORKER = "worker of an older release"
    OLD_READER = "reader of an older release"
    LOSS = "lost packets"
    CORRUPT = "garbled packets"
    STOP = "worker stopped in good order"
    PREEMPT = "worker preempted"
    PAUSE = "paused worker"
    PAUSE_READER = "paused reader"
    PAUSE_DISPATCHER = "paused dispatcher"
    CLOG = "clogged worker"
    SWIZZLE = "swizzle-clogged nodes"
    CUT_READER_ONEWAY = "reader hears nothing from a worker"
    CUT_READER = "reader cut off from a worker"
    CUT_DISPATCHER_ONEWAY = "worker hears nothing from the dispatcher"
    CUT_DISPATCHER = "worker cut off from the dispatcher"
    CUT_READER_DISPATCHER = "reader cut off from the dispatcher"
    CUT_READER_DISPATCHER_ONEWAY = "dispatcher hears nothing from a reader"
    CUT_FOR_GOOD = "worker hears nothing from the dispatcher for good"
    UNHEARD = "a reader's goodbyes are lost"
    CRASH = "worker crash"
    POWER_LOSS = "worker power loss"
    KILL = "worker crash for good"
    RESTART_DISPATCHER = "dispatcher crash"
    UNSYNCED_LOST = "dispatcher power loss, un-synced records lost"
    UNSYNCED_KEPT = "dispatcher crash, un-synced records kept"
    FULL_DISK = "full disk of the dispatcher"
    DISK_ERRORS = "input/output errors of the dispatcher's disk"
    UNREADABLE_DISK = "unreadable disk of the dispatcher"
    BIT_ROT = "changed bit in the dispatcher's journal"
    KILL_READER = "reader crash for good"


FOR_GOOD: Final = (FaultKind.CUT_FOR_GOOD, FaultKind.UNHEARD, FaultKind.KILL, FaultKind.KILL_READER)


def usual(slot: int, kind: FaultKind, target: int = 0, span: int = 1) -> Fault:
    """A fault of a kind as random runs have it.

    Args:
      slot: when it begins, in slots of ``SLOT_MS``.
      target: the number of the worker or reader that it concerns.
      span: how many slots it lasts, at least one.
    """
    for_ms = None if kind in FOR_GOOD else span * SLOT_MS
    return Fault(what(kind, target), slot * SLOT_MS, for_ms)


def what(kind: FaultKind, target: int) -> Kind:
    """What goes wrong in a fault of the menu."""
    w, r, d = f"worker{target}", f"reader{target}", "dispatcher"
    match kind:
        case FaultKind.SLOW:
            return Slow(w)
        case FaultKind.SLOW_DISK:
            return SlowDisk()
        case FaultKind.LATE:
            return Late(w)
        case FaultKind.THROTTLE:
            return Throttle(w)
        case FaultKind.REORDER:
            return Reorder()
        case FaultKind.DUPLICATE:
            return Duplicate()
        case FaultKind.CLOCK_FAST:
            return ClockDrift(w)
        case FaultKind.CLOCK_SLOW:
            return ClockDrift(d, ppm=-200_000)
        case FaultKind.CLOCK_JUMP:
            return ClockJump(d, ahead_ms=1_000)
        case FaultKind.OLD_WORKER:
            return OldVersion(w)
        case FaultKind.OLD_READER:
            return OldVersion(r)
        case FaultKind.LOSS:
            return Lose()
        case FaultKind.CORRUPT:
            return Corrupt()
        case FaultKind.STOP:
            return Stop(w)
        case FaultKind.PREEMPT:
            return Preempt(w)
        case FaultKind.PAUSE:
            return Pause(w)
        case FaultKind.PAUSE_READER:
            return Pause(r)
        case FaultKind.PAUSE_DISPATCHER:
            return Pause(d)
        case FaultKind.CLOG:
            return Clog(w)
        case FaultKind.SWIZZLE:
            return Swizzle(shuffle=1 + target)
        case FaultKind.CUT_READER_ONEWAY:
            return Cut(w, r, oneway=True)
        case FaultKind.CUT_READER:
            return Cut(w, r)
        case FaultKind.CUT_DISPATCHER_ONEWAY | FaultKind.CUT_FOR_GOOD:
            return Cut(d, w, oneway=True)
        case FaultKind.CUT_DISPATCHER:
            return Cut(d, w)
        case FaultKind.CUT_READER_DISPATCHER:
            return Cut(d, r)
        case FaultKind.CUT_READER_DISPATCHER_ONEWAY:
            return Cut(r, d, oneway=True)
        case FaultKind.UNHEARD:
            return LoseCalls("ReleaseIterationClient", r)
        case FaultKind.CRASH | FaultKind.KILL:
            return Crash(w)
        case FaultKind.POWER_LOSS:
            return Crash(w, silent=True)
        case FaultKind.RESTART_DISPATCHER:
            return Crash(d)
        case FaultKind.UNSYNCED_LOST:
            return Crash(d, Aftermath.LOST, silent=True)
        case FaultKind.UNSYNCED_KEPT:
            return Crash(d, Aftermath.KEPT)
        case FaultKind.FULL_DISK:
            return FullDisk()
        case FaultKind.DISK_ERRORS:
            return DiskErrors()
        case FaultKind.UNREADABLE_DISK:
            return UnreadableDisk()
        case FaultKind.BIT_ROT:
            return BitRot()
        case FaultKind.KILL_READER:
            return Crash(r)
        case _:
            assert_never(kind)
