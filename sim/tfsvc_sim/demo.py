"""The demonstration in simulation: the same machines and the same dataset, a crash, and a trace."""

from __future__ import annotations

from collections import Counter

from tfsvc.data import Dataset
from tfsvc.examples.tally import Tally
from tfsvc.examples.tokens import token_counts
from tfsvc.execution.program import define
from tfsvc.protocol.ids import SECOND
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.timeline import timeline

FILES_MAX = 120
SEED = 1


def run(files: list[str], expected: Tally, plain_seconds: float) -> bool:
    """Crashes one of three simulated workers half-way; whether the blocks are exactly those ``expected``."""
    some = files[:: max(1, len(files) // FILES_MAX)][:FILES_MAX]
    known = {path.encode(): number for number, path in enumerate(some)}
    wanted = Counter({(known[file], block): count for (file, block), count in expected.seen.items() if file in known})
    print(f"The same crash in simulation, seed {SEED}: {len(some)} of the files, {sum(wanted.values())} elements")
    world = World(SEED, keep=True)
    world.add_dispatcher()
    for _ in range(3):
        world.add_worker()
    world.register("tokens", define(_identities(some).operator))
    world.add_reader("tokens")
    half = sum(wanted.values()) // 2
    world.run_until(lambda: len(world.ledger.takings) >= half, 600 * SECOND)
    world.kill("worker1")
    in_time = world.run_until(world.all_left, 600 * SECOND)
    for line in timeline(world):
        print(line)
    got = Counter((taking.values[0], taking.values[1]) for taking in world.ledger.takings)
    lost, repeated = sum((wanted - got).values()), sum((got - wanted).values())
    print(f"lost {lost}, repeated {repeated}; trace {world.trace.digest()[:16]}, the same in every run")
    return in_time and lost == 0 and repeated == 0


def _identities(files: list[str]) -> Dataset:
    """Which file and which block each element is, as numbers."""
    numbers = {path.encode(): number for number, path in enumerate(files)}
    return token_counts(files).map(lambda element: (numbers[element["file"]], element["block"]))
