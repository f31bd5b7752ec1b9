"""A worker crashes and is back before anybody missed it: its new life is not taken for the old one."""

from tfsvc_sim import Crash, Fault, Message, Scenario, Workload, eventually, readers, workers

SCENARIO = Scenario(
    workload=Workload("range", 120),
    workers=workers(2),
    readers=readers(2),
    faults=(
        Fault(Crash("worker0", silent=True), upon=Message("GetFrames", nth=4), for_ms=5),
        Fault(Crash("worker1", silent=True), upon=Message("GetFrames", nth=9), for_ms=5),
    ),
)
CLAIMS = (eventually("both are in their second life", lambda world: world.nodes["worker0"].incarnation == 2),)
