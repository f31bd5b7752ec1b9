"""The dispatcher dies when it has written a lease down and not said so: the worker asks again and gets the same."""

from tfsvc_sim import (
    Aftermath,
    Crash,
    Edge,
    Fault,
    Message,
    Scenario,
    Workload,
    eventually,
    reachable,
    readers,
    workers,
)

SCENARIO = Scenario(
    workload=Workload("range", 120),
    workers=workers(2),
    readers=readers(2),
    faults=(
        Fault(
            Crash("dispatcher", disk=Aftermath.KEPT),
            upon=Message("LeaseSplits", "worker1", nth=3, edge=Edge.BEFORE_REPLY),
            for_ms=300,
        ),
    ),
)
CLAIMS = (
    reachable("worker 1 asks for its third lease again", Message("LeaseSplits", "worker1", nth=4)),
    eventually("all is taken", lambda world: len(world.ledger.takings) == 120),
)
