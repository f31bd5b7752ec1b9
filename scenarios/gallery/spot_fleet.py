"""A fleet of spot instances, as a trace of one afternoon has it, a thousand times as fast."""

from tfsvc_sim import Scenario, Workload, readers, sometimes, workers
from tfsvc_sim.faults.spot import preemptions

AFTERNOON = """
# seconds, instance, up or down
120, i-0a, down
180, i-0b, down
300, i-0c, down
420, i-0a, up
900, i-0b, up
960, i-0c, up
1500, i-0d, down
1560, i-0a, down
1800, i-0d, up
2400, i-0a, up
"""

SCENARIO = Scenario(
    workload=Workload("map", 400),
    workers=workers(4, element_ms=10),
    readers=readers(2, think_ms=8),
    faults=preemptions(AFTERNOON, faster=1000),
)
CLAIMS = (
    sometimes("three of four are away at once", lambda world: sum(world.nodes[w].alive for w in world.workers) == 1),
)
