"""A random run of remote calls for every seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tfsvc.protocol.luck import Luck
from tfsvc_sim.faults.menu import FaultKind, usual
from tfsvc_sim.kernel.engine import Engine
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.kernel.wire import through_codec
from tfsvc_sim.rpc.executor import METHODS
from tfsvc_sim.rpc.verdict import judge
from tfsvc_sim.rpc.world import CallPlan, RpcScenario, RpcWorld

NAMES: Final = tuple(method.name for method in METHODS)
KINDS: Final = (
    FaultKind.SLOW,
    FaultKind.REORDER,
    FaultKind.DUPLICATE,
    FaultKind.LATE,
    FaultKind.THROTTLE,
    FaultKind.CLOCK_FAST,
    FaultKind.LOSS,
    FaultKind.CORRUPT,
    FaultKind.CLOG,
    FaultKind.STOP,
    FaultKind.PAUSE,
    FaultKind.CUT_READER_ONEWAY,
    FaultKind.CUT_READER,
    FaultKind.CRASH,
    FaultKind.POWER_LOSS,
    FaultKind.KILL_READER,
)
"""What can go wrong; the server is the worker, and clients are the readers."""
SLOTS: Final = 8
FORGETFUL: Final = 2
"""How few answers some servers remember."""
SPANS: Final = (1, 1, 2, 3, 5, 12)


def draw(seed: int) -> RpcScenario:
    """The scenario of a seed."""
    luck = Luck(seed, "rpc swarm")
    possible = [kind for kind in KINDS if luck.below(2)]
    faults = tuple(
        usual(luck.below(SLOTS), possible[luck.below(len(possible))], luck.below(4), SPANS[luck.below(len(SPANS))])
        for _ in range(luck.below(6) if possible else 0)
    )
    clients = tuple(tuple(_call(luck) for _ in range(1 + luck.below(12))) for _ in range(1 + luck.below(3)))
    return RpcScenario(clients, faults, FORGETFUL if luck.below(4) == 0 else 4096, seed)


def _call(luck: Luck) -> CallPlan:
    retry = luck.below(4) != 0
    return CallPlan(
        slot=luck.below(SLOTS),
        method=NAMES[luck.below(len(NAMES))],
        retry=retry,
        # A call that is made once, for as long as it takes, waits for ever for an answer that was lost.
        timeout_ms=0 if retry and luck.below(3) else 1 + luck.below(400),
        cancel_ms=0 if luck.below(6) else 1 + luck.below(100),
    )


def play(scenario: RpcScenario, make_engine: Callable[[int], Engine] = HeapEngine, codec: bool = False) -> list[str]:
    """Runs a scenario to its end; what is wrong, in words.

    Args:
      make_engine: makes the engine for a seed.
      codec: whether messages go through the real wire's codec.
    """
    world = RpcWorld(scenario, make_engine(scenario.seed), through_codec if codec else None)
    world.run()
    return judge(world)
