"""A reader leaves early, and nothing that it says is heard for a second: the others get its part all the same."""

from tfsvc_sim.claims import eventually
from tfsvc_sim.faults import Cut, Fault, Taken
from tfsvc_sim.scenario import ReaderPlan, Scenario, workers
from tfsvc_sim.workloads import Workload

SCENARIO = Scenario(
    workload=Workload("range", 120),
    workers=workers(2),
    readers=(ReaderPlan(leave_after=20), ReaderPlan(think_ms=12)),
    faults=(Fault(Cut("reader0", "dispatcher", oneway=True), upon=Taken(16, reader="reader0"), for_ms=1_000),),
)
CLAIMS = (eventually("all is taken", lambda world: len(world.ledger.takings) == 120),)
