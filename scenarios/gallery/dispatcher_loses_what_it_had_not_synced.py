"""The dispatcher loses power with a record that was written and not synced: nobody had been told of it."""

from tfsvc_sim import Aftermath, Crash, Fault, Record, Scenario, Workload, eventually, readers, workers

POWER_LOSS = Crash("dispatcher", disk=Aftermath.LOST, silent=True)

SCENARIO = Scenario(
    workload=Workload("files", 60),
    workers=workers(2),
    readers=readers(2),
    faults=(
        Fault(POWER_LOSS, upon=Record("LeaseSplits", 3), for_ms=150),
        Fault(POWER_LOSS, upon=Record("AdvanceLane", 6), for_ms=150),
    ),
)
CLAIMS = (eventually("it is in its third life", lambda world: world.nodes["dispatcher"].incarnation == 3),)
