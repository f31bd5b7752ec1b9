"""A worker stands still until others have its work, and then goes on as if nothing had happened."""

from tfsvc_sim import Fault, Pause, Scenario, Taken, Workload, readers, sometimes, workers

SCENARIO = Scenario(
    workload=Workload("flat_map", 150),
    workers=workers(2),
    readers=readers(1, think_ms=40),
    faults=(Fault(Pause("worker1"), upon=Taken(30), for_ms=2_500),),
)
CLAIMS = (sometimes("it wakes while the others still read", lambda world: world.now > 3_000_000_000),)
