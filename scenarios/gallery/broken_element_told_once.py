"""An element cannot be made, and the worker that says so dies: the error is told once, and the others still come."""

from tfsvc_sim import Crash, Fault, Scenario, Taken, Workload, eventually, readers, workers

SCENARIO = Scenario(
    workload=Workload("fails", 80),
    workers=workers(2),
    readers=readers(2),
    faults=(Fault(Crash("worker0"), upon=Taken(3), for_ms=300), Fault(Crash("worker1"), upon=Taken(20), for_ms=300)),
)
CLAIMS = (
    eventually("one error was told", lambda world: sum(bool(t.error) for t in world.ledger.takings) == 1),
    eventually("79 values were taken", lambda world: sum(not t.error for t in world.ledger.takings) == 79),
)
