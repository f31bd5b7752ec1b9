"""A reader leaves early and its goodbyes are lost: when it has been silent for long, the others get its part."""

from tfsvc_sim import Fault, LoseCalls, ReaderPlan, Scenario, Workload, World, eventually, sometimes, workers


def every_value_was_taken(world: World) -> bool:
    return {value for taking in world.ledger.takings for value in taking.values} == set(range(120))


SCENARIO = Scenario(
    workload=Workload("range", 120),
    workers=workers(2),
    readers=(ReaderPlan(leave_after=20), ReaderPlan(think_ms=150)),
    faults=(Fault(LoseCalls("ReleaseIterationClient", "reader0"), for_ms=None),),
)
CLAIMS = (
    sometimes("it could not say goodbye", lambda world: world.applications["reader0"].unheard),
    eventually("every value was taken", every_value_was_taken, within_ms=60_000),
)
