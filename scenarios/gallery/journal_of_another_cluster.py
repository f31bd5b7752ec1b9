"""The dispatcher is started on the disk of another cluster: ids of the old one mean nothing there."""

from tfsvc_sim.faults import Aftermath, Crash, Fault, Taken
from tfsvc_sim.playing.scenario import Outcome, Scenario, readers, workers
from tfsvc_sim.playing.workloads import Workload

SCENARIO = Scenario(
    workload=Workload("map", 400),
    workers=workers(2),
    readers=readers(1, think_ms=20),
    faults=(Fault(Crash("dispatcher", disk=Aftermath.SWAPPED), upon=Taken(30), for_ms=200),),
    outcome=Outcome.STATE_LOST,
)
