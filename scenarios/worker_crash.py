"""A worker crashes half-way through the epoch: is anything lost?

    python -m scenarios.worker_crash --seed 7          one crash, told in a few lines
    python -m scenarios.worker_crash --seeds 20000     as many random clusters, workloads and faults
    python -m scenarios.worker_crash --replay 4711     one of those again, with every event
    python -m scenarios.worker_crash --scenario FILE   a scenario in JSON, as a failing test prints it

Expected: nothing is lost and nothing is repeated; the exit code is 1 if any oracle disagrees.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tfsvc.protocol.ids import MILLISECOND, SECOND
from tfsvc_sim import Scenario, Workload, World, page, show
from tfsvc_sim.judging.oracles import each_once, in_order
from tfsvc_sim.nodes.application import Habits
from tfsvc_sim.outside.commands import report
from tfsvc_sim.playing.show import options as whole
from tfsvc_sim.playing.swarm import draw
from tfsvc_sim.playing.timeline import timeline

LOAD = Workload("map", 240)
CRASH_AT_NS = 150 * MILLISECOND


def tell(seed: int, page_path: Path | None = None) -> bool:
    """Three workers, two readers of one job, one worker crashes; whether all went well."""
    world = World(seed, keep=True)
    looking = page.Observation(world)
    world.add_dispatcher()
    for _ in range(3):
        world.add_worker()
    dataset_id = world.register(LOAD.name, LOAD.definition())
    for _ in range(2):
        world.add_reader(dataset_id, job="epoch", habits=Habits(think_ns=3 * MILLISECOND))
    world.at(CRASH_AT_NS, lambda: world.kill("worker1"))
    in_time = world.run_until(world.all_left, 60 * SECOND)
    for line in timeline(world):
        print(line)
    takings = world.ledger.takings
    problems = each_once(LOAD.values(), LOAD.errors, takings) + in_order(takings, LOAD.ascending)
    if not in_time:
        problems.append("some reader waits for ever")
    if page_path is not None:
        page.write(
            looking.recording("A worker crashes half-way through the epoch", {"seed": str(seed)}, problems), page_path
        )
    return _verdict(problems, f"{len(takings)} elements, each exactly once", world)


def _verdict(problems: Sequence[str], good: str, world: World) -> bool:
    print()
    for problem in problems or (f"clean: {good}",):
        print(problem)
    print(f"trace {world.trace.digest()[:16]}: {world.trace.count} events in {world.now / SECOND:.2f} s of the world")
    return not problems


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not a positive number")
    return number


def _scenario(path: str) -> Scenario:
    try:
        return Scenario.from_json(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{path}: {error}") from error


def _replay(scenario: Scenario) -> bool:
    """One scenario with its whole trace; whether all went well."""
    for line in whole(scenario):
        print(line)
    return show(scenario, trace=True) == 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scenarios.worker_crash", description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--seed", type=int, default=1, help="tell the story of this seed")
    what.add_argument("--seeds", type=_positive, help="sweep so many random scenarios")
    what.add_argument("--replay", type=int, metavar="SEED", help="show one scenario of a sweep")
    what.add_argument("--scenario", type=_scenario, metavar="FILE", help="show a scenario in JSON")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the story's page there")
    parser.add_argument("--start", type=int, default=0, help="the first seed of a sweep")
    parser.add_argument("--jobs", type=_positive, default=2, help="processes of a sweep")
    parser.add_argument(
        "--engine", choices=("simpy", "heap"), default="simpy", help="whose time; the runs are the same"
    )
    options = parser.parse_args(arguments)
    if options.seeds is not None:
        good = report(range(options.start, options.start + options.seeds), options.jobs, options.engine)
    elif options.replay is not None:
        good = _replay(draw(options.replay))
    elif options.scenario is not None:
        good = _replay(options.scenario)
    else:
        good = tell(options.seed, options.page)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
