"""A reader is killed: what it had not reported as taken goes to the other one, which still reads."""

from tfsvc_sim.faults import Crash, Fault, Taken
from tfsvc_sim.judging.claims import eventually
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.scenario import ReaderPlan, Scenario, workers
from tfsvc_sim.playing.workloads import Workload


def all_values_were_taken(world: World) -> bool:
    return {value for taking in world.ledger.takings for value in taking.values} == set(range(150))


SCENARIO = Scenario(
    workload=Workload("range", 150),
    workers=workers(2),
    readers=(ReaderPlan(think_ms=10), ReaderPlan(think_ms=120)),
    faults=(Fault(Crash("reader0"), upon=Taken(20, reader="reader0"), for_ms=None),),
)
CLAIMS = (eventually("every value was taken by somebody", all_values_were_taken, within_ms=60_000),)
