"""Bounds: which faults exactly-once delivery can survive; beyond them an oracle tells no bug from the impossible.

While temporary faults last, everything may be out of order. When they are over there must be a *core* that is whole
and stays so: the dispatcher with its journal, a worker, every reader that lives, and the network between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from tfsvc_sim.faults.clocks import ClockDrift, ClockJump
from tfsvc_sim.faults.disks import BitRot, DiskErrors, FullDisk, UnreadableDisk
from tfsvc_sim.faults.fault import Fault
from tfsvc_sim.faults.links import Clog, Cut, Lose, LoseCalls, Swizzle
from tfsvc_sim.faults.nodes import Crash, Pause, Preempt, Stop
from tfsvc_sim.faults.versions import LANES, OldVersion
from tfsvc_sim.kernel.disk import Aftermath

SILENT_MS: Final = 7_000
"""How long a reader may be silent in all; a bit less than ``TEMPOS`` wait before they give its part to others."""
GOODBYE: Final = "ReleaseIterationClient"
"""The one call that nobody depends on: whoever is silent is gone."""
SHARE_MAX: Final = 0.9
"""Of packets that may be lost for good; with more there is no network."""


def bounded(faults: Iterable[Fault], workers: int) -> tuple[Fault, ...]:
    """The faults without those that, behind the ones before them, would go beyond what can be survived."""
    kept: tuple[Fault, ...] = ()
    for fault in faults:
        if beyond((*kept, fault), workers) is None:
            kept = (*kept, fault)
    return kept


def beyond(faults: Sequence[Fault], workers: int) -> str | None:
    """Why no cluster of so many workers could deliver everything exactly once; ``None`` if it could."""
    lost: dict[int, None] = {}
    silent_ms = 0
    for fault in faults:
        why = _alone(fault)
        if why is not None:
            return why
        if fault.for_ms is None:
            lost |= dict.fromkeys(number % workers for number in _workers(fault))
        silent_ms += _silence_ms(fault)
    if len(lost) >= workers:
        return "no worker of the cluster is left whole"
    if silent_ms > SILENT_MS:
        return f"readers are silent for {silent_ms} ms, and the dispatcher gives their part to others"
    return None


def _alone(fault: Fault) -> str | None:
    """Why one fault alone is too much."""
    match fault.what:
        case Crash(_, Aftermath.WIPED | Aftermath.SWAPPED):
            return "the dispatcher loses its journal"
        case Crash("dispatcher") | Stop("dispatcher") | Pause("dispatcher") | Clog("dispatcher") if not fault.for_ms:
            return "the dispatcher is gone for good"
        case BitRot() | DiskErrors() | FullDisk() | UnreadableDisk() | Swizzle() if fault.for_ms is None:
            return "the dispatcher's disk, or the way to it, is never mended"
        case Pause(node) | Clog(node) if node.startswith("reader") and fault.for_ms is None:
            return "a reader stands still for good"
        case Cut(one, other) if fault.for_ms is None and not any(_is_worker(name) for name in (one, other)):
            return "a reader never reaches the dispatcher"
        case Lose(share) if fault.for_ms is None and share > SHARE_MAX:
            return "there is no network"
        case LoseCalls(method) if fault.for_ms is None and method != GOODBYE:
            return f"nobody may ever call {method}"
        case OldVersion(_, newest) if newest < LANES:
            return "a node takes part that is too old to know lanes"
        case ClockDrift(_, ppm) if abs(ppm) > 500_000:
            return "a clock goes at half or double the rate"
        case _:
            return None


def _workers(fault: Fault) -> list[int]:
    """The numbers of the workers that a fault takes out."""
    match fault.what:
        case Crash(node) | Stop(node) | Preempt(node) | Pause(node) | Clog(node):
            names = [node]
        case Cut(one, other):
            names = [one, other]
        case _:
            names = []
    return [int(name.removeprefix("worker")) for name in names if _is_worker(name)]


def _is_worker(name: str) -> bool:
    return re.fullmatch(r"worker\d+", name) is not None


def _silence_ms(fault: Fault) -> int:
    """For how long readers may seem silent to the dispatcher, at the most."""
    lasts = fault.for_ms or 0
    match fault.what:
        case Pause(node) | Clog(node):
            return 0 if _is_worker(node) else lasts
        case Cut(one, other):
            return 0 if _is_worker(one) or _is_worker(other) else lasts
        case ClockJump("dispatcher", ahead_ms):
            return ahead_ms
        case Swizzle():
            return lasts
        case _:
            return 0
