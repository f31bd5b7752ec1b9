"""The simulated world: the machines of tfsvc on simulated time, network and disks.

A run is a function of its seed alone: on every machine, under every hash seed, on either engine.

Here is what a scenario is written with. ``tfsvc_sim.research`` is for experiments.
"""

from tfsvc_sim.faults import (
    Aftermath,
    BitRot,
    ClockDrift,
    ClockJump,
    Clog,
    Corrupt,
    Crash,
    Cut,
    DiskErrors,
    Duplicate,
    Edge,
    Fault,
    FullDisk,
    Late,
    Lose,
    LoseCalls,
    Message,
    OldVersion,
    Pause,
    Preempt,
    Record,
    Reorder,
    Slow,
    SlowDisk,
    Stop,
    Swizzle,
    Taken,
    Throttle,
    UnreadableDisk,
)
from tfsvc_sim.judging.claims import always, eventually, reachable, sometimes
from tfsvc_sim.kernel.rules import DROP, PASS, Always, Fate, Match, Only, Packet
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.play import play
from tfsvc_sim.playing.scenario import Outcome, ReaderPlan, Scenario, WorkerPlan, readers, workers
from tfsvc_sim.playing.show import show
from tfsvc_sim.playing.workloads import Workload

__all__ = [
    "DROP",
    "PASS",
    "Aftermath",
    "Always",
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
    "Fate",
    "Fault",
    "FullDisk",
    "Late",
    "Lose",
    "LoseCalls",
    "Match",
    "Message",
    "OldVersion",
    "Only",
    "Outcome",
    "Packet",
    "Pause",
    "Preempt",
    "ReaderPlan",
    "Record",
    "Reorder",
    "Scenario",
    "Slow",
    "SlowDisk",
    "Stop",
    "Swizzle",
    "Taken",
    "Throttle",
    "UnreadableDisk",
    "WorkerPlan",
    "Workload",
    "World",
    "always",
    "eventually",
    "play",
    "reachable",
    "readers",
    "show",
    "sometimes",
    "workers",
]
