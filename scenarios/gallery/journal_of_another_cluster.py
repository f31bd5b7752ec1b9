"""The dispatcher is started on the disk of another cluster: ids of the old one mean nothing there."""

from tfsvc_sim import Aftermath, Crash, Fault, Outcome, Scenario, Taken, Workload, readers, workers

SCENARIO = Scenario(
    workload=Workload("map", 400),
    workers=workers(2),
    readers=readers(1, think_ms=20),
    faults=(Fault(Crash("dispatcher", disk=Aftermath.SWAPPED), upon=Taken(30), for_ms=200),),
    outcome=Outcome.STATE_LOST,
)
