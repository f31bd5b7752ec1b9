"""Static sharding: a worker never comes back, its shard is given up, and readers are told what is missing."""

from tfsvc.protocol.messages import ShardingPolicy
from tfsvc_sim import Crash, Fault, Record, Scenario, Taken, Workload, eventually, reachable, readers, workers

SCENARIO = Scenario(
    workload=Workload("range", 120),
    policy=ShardingPolicy.DATA,
    workers=workers(3),
    readers=readers(1),
    faults=(Fault(Crash("worker1"), upon=Taken(30), for_ms=None),),
)
CLAIMS = (
    reachable("the shard is given up", Record("GiveUpShard")),
    eventually(
        "the reader is told", lambda world: "missing" in world.applications["reader0"].warning, within_ms=60_000
    ),
)
