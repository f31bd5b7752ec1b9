"""The dispatcher comes back with an empty disk: readers are told that its state was lost, and nothing comes twice."""

from tfsvc_sim import Aftermath, Crash, Fault, Outcome, Scenario, Taken, Workload, always, readers, workers

SCENARIO = Scenario(
    workload=Workload("range", 400),
    workers=workers(2),
    readers=readers(2, think_ms=20),
    faults=(Fault(Crash("dispatcher", disk=Aftermath.WIPED), upon=Taken(40), for_ms=200),),
    outcome=Outcome.STATE_LOST,
)
CLAIMS = (always("the epoch does not end as if it were whole", lambda world: len(world.ledger.takings) < 400),)
