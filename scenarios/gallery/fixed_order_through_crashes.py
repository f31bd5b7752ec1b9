"""A job with a fixed order, through crashes of workers and dispatcher: each consumer gets its sequence."""

from tfsvc_sim import Crash, Fault, Record, Scenario, Taken, Workload, reachable, readers, workers

SCENARIO = Scenario(
    workload=Workload("shuffle", 160),
    workers=workers(3),
    readers=readers(2),
    lanes=8,
    checkpoint_every=4,
    faults=(
        Fault(Crash("worker0"), upon=Taken(30), for_ms=400),
        Fault(Crash("dispatcher"), upon=Taken(60), for_ms=200),
        Fault(Crash("worker2"), upon=Taken(90), for_ms=None),
    ),
)
CLAIMS = (reachable("a lane moves", Record("MoveLane")),)
