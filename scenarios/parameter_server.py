"""A parameter server crashes in the middle of the training: is an update lost for good, halved or applied twice?

    python -m scenarios.parameter_server --seed 7       one story, told in a few lines
    python -m scenarios.parameter_server --seeds 200    as many stories, each with crashes of its own
    python -m scenarios.parameter_server --trace        the story with every event

Three trainers teach a linear model through one parameter server, over a network that repeats, delays and
loses packets. A worker's server, a trainer and the parameter server crash and come back; the variables are
restored from the last checkpoint. Expected: no look at the variables shows a part of an update or one that
was applied twice, every trainer makes all its updates, and the loss goes down; the exit code is 1 otherwise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc.protocol.luck import Luck
from tfsvc_sim import World
from tfsvc_sim.cluster.cluster import Runner, add_cluster
from tfsvc_sim.cluster.training import Ledger, Plan, Storage, build, train
from tfsvc_sim.kernel.rules import Duplication, Loss, Reordering

TRAINERS = 3
DOWN_NS = 300 * MILLISECOND
LATE_NS = 40 * MILLISECOND
FAULTS_NS = 4 * SECOND
"""How long the network is bad, and within which time nodes crash."""
IN_TIME_NS = 120 * SECOND


class Story:
    """One training, with its crashes.

    Args:
      seed: of everything.
      keep: whether the trace stays readable.
    """

    def __init__(self, seed: int, keep: bool = False) -> None:
        self.world = World(seed, keep=keep)
        self.ledger = Ledger()
        self.storage = Storage()
        self.crashes: list[str] = []
        servers = add_cluster(self.world, {"ps": 1, "worker": TRAINERS})
        self._trainers = [self._trainer(index) for index in range(TRAINERS)]
        self._plan_faults(Luck(seed, "faults"), servers)

    def run(self) -> list[str]:
        """Lets it happen; what was not as it should be."""
        in_time = self.world.run_until(lambda: all(trainer.ended for trainer in self._trainers), IN_TIME_NS)
        problems = list(self.ledger.problems)
        if not in_time:
            problems.append("a trainer has not come to its end")
        losses = self.ledger.losses
        if not losses or max(losses[-5:]) > losses[0] / 10:
            problems.append(f"the loss did not go down: {losses[:1]} to {losses[-5:]}")
        return problems

    def _trainer(self, index: int) -> Runner:
        graph = build(TRAINERS, index)
        plan = Plan(TRAINERS, index)
        make = partial(train, plan, graph, self.storage, self.ledger)
        return Runner(self.world, f"trainer{index}", make)

    def _plan_faults(self, luck: Luck, servers: Sequence[str]) -> None:
        for rule in (Duplication(0.1, LATE_NS), Reordering(0.1, LATE_NS), Loss(0.02)):
            self.world.at(FAULTS_NS, self.world.rule(rule).remove)
        for address in ("ps0", "worker1", f"trainer{luck.below(TRAINERS)}", servers[luck.below(len(servers))]):
            at = 100 * MILLISECOND + luck.below(FAULTS_NS // MILLISECOND) * MILLISECOND
            silent = luck.below(4) == 0
            self.world.at(at, partial(self._crash, address, silent))
            self.world.at(at + DOWN_NS, partial(self.world.restart, address))

    def _crash(self, address: str, silent: bool) -> None:
        if self.world.nodes[address].alive:
            self.crashes.append(f"{self.world.now / SECOND:7.3f} s  {address} {'loses power' if silent else 'crashes'}")
            self.world.crash(address, silent)


def tell(seed: int, trace: bool = False) -> bool:
    """One story in a few lines; whether all went well."""
    story = Story(seed, keep=trace)
    problems = story.run()
    for entry in story.world.trace.entries:
        print(entry)
    for crash in story.crashes:
        print(crash)
    ledger = story.ledger
    failed = ", ".join(f"{count} {kind}" for kind, count in sorted(ledger.failures.items())) or "none"
    print(f"{ledger.updates} updates, {story.storage.saves} checkpoints; failed steps and sessions: {failed}")
    print(f"loss {ledger.losses[0]:.4f} at first, {ledger.losses[-1]:.6f} at last" if ledger.losses else "no update")
    for problem in problems or ("clean: every update is whole, and none was applied twice",):
        print(problem)
    print(
        f"trace {story.world.trace.digest()[:16]}: {story.world.trace.count} events in {story.world.now / SECOND:.2f} s"
    )
    return not problems


def sweep(seeds: range) -> bool:
    """Many stories; whether all went well."""
    bad = 0
    for seed in seeds:
        problems = Story(seed).run()
        if problems:
            bad += 1
            print(f"seed {seed}: {'; '.join(problems[:3])}")
    print(f"{len(seeds)} stories, {bad} with a problem")
    return not bad


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not a positive number")
    return number


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scenarios.parameter_server", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="tell the story of this seed")
    parser.add_argument("--seeds", type=_positive, help="tell of so many, and only what went wrong")
    parser.add_argument("--trace", action="store_true", help="show every event")
    options = parser.parse_args(arguments)
    good = tell(options.seed, options.trace) if options.seeds is None else sweep(range(options.seeds))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
