"""A reader is killed: what it had not reported as taken goes to the other one, which still reads."""

from tfsvc_sim import Crash, Fault, ReaderPlan, Scenario, Taken, Workload, World, eventually, workers


def all_values_were_taken(world: World) -> bool:
    return {value for taking in world.ledger.takings for value in taking.values} == set(range(150))


SCENARIO = Scenario(
    workload=Workload("range", 150),
    workers=workers(2),
    readers=(ReaderPlan(think_ms=10), ReaderPlan(think_ms=120)),
    faults=(Fault(Crash("reader0"), upon=Taken(20, reader="reader0"), for_ms=None),),
)
CLAIMS = (eventually("every value was taken by somebody", all_values_were_taken, within_ms=60_000),)
