"""Static sharding: a worker is away for three seconds, and its shard waits for it."""

from tfsvc.protocol.messages import ShardingPolicy
from tfsvc_sim import Crash, Fault, Scenario, Taken, Workload, eventually, readers, workers

SCENARIO = Scenario(
    workload=Workload("files", 40),
    policy=ShardingPolicy.FILE,
    workers=workers(3),
    readers=readers(2),
    faults=(Fault(Crash("worker1"), upon=Taken(30), for_ms=3_000),),
)
CLAIMS = (eventually("all 120 are taken", lambda world: len(world.ledger.takings) == 120),)
