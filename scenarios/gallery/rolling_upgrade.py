"""Workers are upgraded one after the other while a job runs: old and new releases serve the same readers."""

from tfsvc_sim import Fault, OldVersion, Scenario, Stop, Workload, eventually, readers, workers

UPGRADES = tuple(
    fault
    for i in range(3)
    for fault in (
        Fault(OldVersion(f"worker{i}"), for_ms=200 + i * 400),
        Fault(Stop(f"worker{i}"), at_ms=100 + i * 400, for_ms=100),
    )
)

SCENARIO = Scenario(workload=Workload("map", 300), workers=workers(3), readers=readers(2, think_ms=6), faults=UPGRADES)
CLAIMS = (
    eventually("all were started again", lambda world: all(world.nodes[w].incarnation == 2 for w in world.workers)),
)
