"""A worker dies with a full shuffle buffer: its lane goes on elsewhere, and no element is left behind."""

from tfsvc_sim import Crash, Fault, Record, Scenario, Workload, eventually, reachable, readers, workers

SCENARIO = Scenario(
    workload=Workload("shuffle", 200),
    workers=workers(2),
    readers=readers(1),
    checkpoint_every=4,
    faults=(Fault(Crash("worker1"), at_ms=30, upon=Record("SaveCheckpoint", 2), for_ms=None),),
)
CLAIMS = (
    reachable("a lane moves", Record("MoveLane")),
    eventually("all 200 are taken", lambda world: len(world.ledger.takings) == 200),
)
