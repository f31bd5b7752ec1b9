"""The word that there is no more data is lost on its way to one of many readers: nobody waits for ever."""

from tfsvc_sim import Cut, Fault, Scenario, Taken, Workload, eventually, readers, workers

SCENARIO = Scenario(
    workload=Workload("range", 100),
    workers=workers(2),
    readers=readers(5),
    faults=(Fault(Cut("dispatcher", "reader3", oneway=True), upon=Taken(85), for_ms=4_000),),
)
CLAIMS = (eventually("all have their end", lambda world: world.all_left(), within_ms=15_000),)
