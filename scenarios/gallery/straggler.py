"""One worker is twenty times as slow as the others: the others do most of the work, and nobody waits for its leases."""

from tfsvc_sim import Fault, Scenario, Slow, Workload, World, eventually, readers, workers


def share_of_the_slow_one(world: World) -> float:
    made = [taking.worker for taking in world.ledger.takings]
    return made.count("worker0") / max(1, len(made))


SCENARIO = Scenario(
    workload=Workload("map", 300),
    workers=workers(3),
    readers=readers(2),
    faults=(Fault(Slow("worker0", factor=20), for_ms=60_000),),
)
CLAIMS = (eventually("it made less than a sixth", lambda world: 0 < share_of_the_slow_one(world) < 1 / 6),)
