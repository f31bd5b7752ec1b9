"""A worker is killed half-way through the epoch: nothing is lost, nothing comes twice."""

from tfsvc_sim import Crash, Fault, Scenario, Taken, Workload, eventually, readers, workers

SCENARIO = Scenario(
    workload=Workload("map", 200),
    workers=workers(3),
    readers=readers(2),
    faults=(Fault(Crash("worker1"), upon=Taken(100), for_ms=None),),
)
CLAIMS = (eventually("all 200 elements are taken", lambda world: len(world.ledger.takings) == 200),)
