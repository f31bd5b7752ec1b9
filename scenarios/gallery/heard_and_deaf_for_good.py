"""A worker is heard and hears nothing, for good: heartbeats alone must not keep its shard from being given up."""

from tfsvc.protocol.messages import ShardingPolicy
from tfsvc_sim import Cut, Fault, Scenario, Taken, Workload, eventually, readers, workers

SCENARIO = Scenario(
    workload=Workload("range", 90),
    policy=ShardingPolicy.DATA,
    workers=workers(3),
    readers=readers(1),
    faults=(Fault(Cut("dispatcher", "worker2", oneway=True), upon=Taken(9), for_ms=None),),
)
CLAIMS = (
    eventually(
        "the reader is told what is missing",
        lambda world: "missing" in world.applications["reader0"].warning or world.applications["reader0"].done,
        within_ms=60_000,
    ),
)
