"""All workers are taken back at once, and come again: the epoch goes on where it was."""

from tfsvc_sim import Fault, Preempt, Scenario, Taken, Workload, readers, sometimes, workers

SCENARIO = Scenario(
    workload=Workload("shuffle_batch", 150),
    workers=workers(3),
    readers=readers(2),
    faults=tuple(Fault(Preempt(f"worker{i}", notice_ms=30), upon=Taken(10), for_ms=1_000) for i in range(3)),
    checkpoint_every=4,
)
CLAIMS = (sometimes("nobody is there", lambda world: not any(world.nodes[w].alive for w in world.workers)),)
