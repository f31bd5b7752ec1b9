"""Faults: what goes wrong in a run, and when, as records that can be stored, shrunk and played again.

Fault(Crash("worker1"), at_ms=150, for_ms=300)
Fault(Crash("dispatcher", disk=Aftermath.LOST), upon=Message("LeaseSplits", "worker1", nth=3), for_ms=500)
Fault(Cut("worker2", "dispatcher", oneway=True), at_ms=200)
"""

from tfsvc_sim.faults.clocks import ClockDrift, ClockJump
from tfsvc_sim.faults.disks import BitRot, DiskErrors, FullDisk, SlowDisk, UnreadableDisk
from tfsvc_sim.faults.fault import Fault, Kind, Stage, apply, label
from tfsvc_sim.faults.links import Clog, Corrupt, Cut, Duplicate, Late, Lose, LoseCalls, Reorder, Swizzle, Throttle
from tfsvc_sim.faults.moments import Edge, Message, Record, Taken
from tfsvc_sim.faults.nodes import Crash, Pause, Preempt, Slow, Stop
from tfsvc_sim.faults.versions import OldVersion
from tfsvc_sim.kernel.disk import Aftermath

__all__ = [
    "Aftermath",
    "BitRot",
    "ClockDrift",
    "ClockJump",
    "Clog",
    "Corrupt",
    "Crash",
    "Cut",
    "DiskErrors",
    "Duplicate",
    "Edge",
    "Fault",
    "FullDisk",
    "Kind",
    "Late",
    "Lose",
    "LoseCalls",
    "Message",
    "OldVersion",
    "Pause",
    "Preempt",
    "Record",
    "Reorder",
    "Slow",
    "SlowDisk",
    "Stage",
    "Stop",
    "Swizzle",
    "Taken",
    "Throttle",
    "UnreadableDisk",
    "apply",
    "label",
]
