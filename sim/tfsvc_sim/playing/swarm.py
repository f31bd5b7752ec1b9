"""The swarm: a random scenario for every seed, each with another mixture of things that can happen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeVar

from tfsvc.protocol.luck import Luck
from tfsvc.protocol.messages import ShardingPolicy
from tfsvc_sim.faults import Edge, Fault, Message, Record, Taken
from tfsvc_sim.faults.bounds import bounded
from tfsvc_sim.faults.menu import SLOT_MS, FaultKind, usual
from tfsvc_sim.nodes.tempo import TEMPOS
from tfsvc_sim.playing.scenario import ReaderPlan, Scenario, WorkerPlan
from tfsvc_sim.playing.workloads import KINDS, Workload

T = TypeVar("T")

SIZES: Final = (0, 1, 3, 8, 20, 33, 48, 64)
CHECKPOINTS: Final = (1, 4, 16, 256)
LANES: Final = (3, 4, 8)
"""Of an ordered job; at least one for each reader."""
FAULTS_MAX: Final = 6
SLOTS: Final = 8
"""In which faults begin and late nodes join."""
CALLS: Final = ("WorkerHeartbeat", "ClientHeartbeat", "OpenLane", "LeaseSplits", "GetFrames", "GetOrCreateIteration")
RECORDS: Final = ("CreateIteration", "CreateTask", "LeaseSplits", "AdvanceLane", "MoveLane", "SaveCheckpoint")
NTH_MAX: Final = 12
"""Moments that set off faults, and how often they must come."""
SPANS: Final = (1, 1, 2, 3, 5, 12, 20)


def draw(seed: int) -> Scenario:
    """The scenario of a seed: which faults are possible at all is drawn first, then how many there are."""
    luck = Luck(seed, "swarm")
    possible = [kind for kind in FaultKind if luck.below(2)]
    workers = tuple(WorkerPlan(_joins_ms(luck) if i else 0, 1 + luck.below(12)) for i in range(1 + luck.below(4)))
    size = _one_of(luck, SIZES)
    readers = tuple(
        ReaderPlan(
            joins_ms=_joins_ms(luck) if i else 0,
            think_ms=luck.below(8),
            leave_after=1 + luck.below(12) if luck.below(6) == 0 else None,
            ahead=luck.below(3) == 0,
        )
        for i in range(1 + luck.below(3))
    )
    faults = tuple(
        _set_off(luck, usual(luck.below(SLOTS), _one_of(luck, possible), luck.below(4), _one_of(luck, SPANS)))
        for _ in range(luck.below(FAULTS_MAX + 1) if possible else 0)
    )
    kind = _one_of(luck, tuple(KINDS))
    policy = _policy(luck, kind)
    lanes = _one_of(luck, LANES) if policy == ShardingPolicy.DYNAMIC and luck.below(3) == 0 else 0
    return Scenario(
        seed=seed,
        workload=Workload(kind, size),
        policy=policy,
        workers=workers,
        readers=readers,
        shared=luck.below(4) != 0,
        lanes=lanes,
        tempo=_one_of(luck, tuple(TEMPOS)),
        checkpoint_every=_one_of(luck, CHECKPOINTS),
        faults=bounded(faults, len(workers)),
    )


def _set_off(luck: Luck, fault: Fault) -> Fault:
    """The fault; one in four begins when something happens, and not at its time."""
    if luck.below(4):
        return fault
    nth = 1 + luck.below(NTH_MAX)
    match luck.below(4):
        case 0:
            return replace(fault, at_ms=0, upon=Taken(nth))
        case 1:
            return replace(fault, at_ms=0, upon=Record(_one_of(luck, RECORDS), nth))
        case _:
            return replace(fault, at_ms=0, upon=Message(_one_of(luck, CALLS), "", nth, _one_of(luck, tuple(Edge))))


def _policy(luck: Luck, kind: str) -> ShardingPolicy:
    """One of the kind's; DYNAMIC more often than others, since more can happen to it."""
    policies = KINDS[kind].policies
    if ShardingPolicy.DYNAMIC not in policies:
        return _one_of(luck, policies)
    if luck.below(8) == 0:
        return ShardingPolicy.OFF
    return ShardingPolicy.DYNAMIC if luck.below(4) else _one_of(luck, policies)


def _joins_ms(luck: Luck) -> int:
    return luck.below(SLOTS) * SLOT_MS if luck.below(4) == 0 else 0


def _one_of(luck: Luck, choices: Sequence[T]) -> T:
    return choices[luck.below(len(choices))]
