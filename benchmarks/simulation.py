"""How fast the simulator is: calls, seeds and a large cluster, beside bare SimPy.

    python -m benchmarks.simulation [--rounds 3] [--part calls|seeds|large]

Figures are for one core, in seconds of processor time, so that other work on the machine counts for little. The median
of the rounds is printed, and the range.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import simpy

from tfsvc.protocol import messages as m
from tfsvc.protocol.calls import Calls
from tfsvc.protocol.contract import Answered, Asked, Event, Reply, Snapshot, Step, Woke
from tfsvc.protocol.ids import NEVER, SECOND, Instant
from tfsvc_sim.faults import Crash, Duplicate, Fault, Lose
from tfsvc_sim.judging.verdict import judge
from tfsvc_sim.kernel.engine import Engine, SimPyEngine
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.nodes.node import Node
from tfsvc_sim.nodes.tempo import Tempo
from tfsvc_sim.nodes.world import World
from tfsvc_sim.playing.play import stage
from tfsvc_sim.playing.scenario import ReaderPlan, Scenario, WorkerPlan
from tfsvc_sim.playing.workloads import Workload
from tfsvc_sim.research import Buffers, Costs, Experiment, Lab, Source
from tfsvc_sim.research.laws import Fixed

CALLS = 100_000
PEERS = 10
SEEDS = 100
ENGINES: dict[str, Callable[[int], Engine]] = {"SimPy": SimPyEngine, "heap": HeapEngine}


@dataclass(frozen=True, slots=True)
class Figure:
    """A rate, measured several times."""

    rates: tuple[float, ...]

    def __str__(self) -> str:
        low, high = min(self.rates), max(self.rates)
        return f"{statistics.median(self.rates):>10,.0f} ({low:,.0f} to {high:,.0f})"


def rate(rounds: int, run: Callable[[int], float]) -> Figure:
    """How many things a second ``run`` does, which returns how many it did."""
    rates = []
    for number in range(rounds):
        began = time.process_time()
        done = run(number)
        rates.append(done / (time.process_time() - began))
    return Figure(tuple(rates))


# --- calls ---


def simpy_calls(_: int) -> float:
    """The same traffic as SimPy's users write it: a process for each caller and server, a store for each mailbox."""
    env = simpy.Environment()

    def server(inbox: simpy.Store) -> Generator[Any, Any, None]:
        while True:
            back = yield inbox.get()
            yield env.timeout(1)
            back.put(1)

    def caller(inbox: simpy.Store, count: int) -> Generator[Any, Any, None]:
        answers = simpy.Store(env)
        for _ in range(count):
            yield env.timeout(1)
            inbox.put(answers)
            yield answers.get()

    callers = []
    for _ in range(PEERS):
        inbox = simpy.Store(env)
        env.process(server(inbox))
        callers.append(env.process(caller(inbox, CALLS // PEERS)))
    env.run(env.all_of(callers))
    return CALLS


def simpy_callbacks(_: int) -> float:
    """The same traffic with nothing but callbacks of SimPy's timeouts: what no simulator on SimPy can go beyond."""
    env = simpy.Environment()
    done = 0

    def arrive(event: Any) -> None:
        nonlocal done
        if event.value:
            send(0)
        else:
            done += 1
            if done < CALLS:
                send(1)

    def send(asks: int) -> None:
        timeout = env.timeout(1, asks)
        timeout.callbacks.append(arrive)

    for _ in range(PEERS):
        send(1)
    env.run()
    return CALLS


class _Server:
    """Answers everything."""

    def handle(self, event: Event, now: Instant) -> Step:
        match event:
            case Asked(call):
                return Step(words=(Reply(call, m.GetVersionResponse(1, 1)),))
            case _:
                return Step()

    def deadline(self) -> Instant:
        return NEVER

    def view(self) -> Snapshot:
        return self


class _Caller:
    """Asks the next question when the last one was answered."""

    def __init__(self, name: str, peer: str, life: int, count: int) -> None:
        self._calls: Calls[None] = Calls(name, life)
        self._peer = peer
        self._left = count
        self._begun = False

    def handle(self, event: Event, now: Instant) -> Step:
        match event:
            case Answered(call):
                self._calls.close(call)
            case Woke() if not self._begun:
                self._begun = True
            case _:
                return Step()
        if not self._left:
            return Step()
        self._left -= 1
        return Step(words=(self._calls.make(self._peer, m.GetVersionRequest(), None, SECOND),))

    def deadline(self) -> Instant:
        return NEVER if self._begun else 0

    def view(self) -> Snapshot:
        return self


def our_calls(engine: Callable[[int], Engine]) -> Callable[[int], float]:
    """The same traffic between machines on nodes: gate, durability oracle, network, deadlines and trace hash."""

    def run(number: int) -> float:
        world = World(number, engine=engine(number))
        for peer in range(PEERS):
            server = f"server{peer}"
            world.add(Node(world.surroundings, server, lambda life, luck, records: _Server()))
            name = f"caller{peer}"

            def boot(life: int, luck: Any, records: Any, name: str = name, server: str = server) -> _Caller:
                return _Caller(name, server, life, CALLS // PEERS)

            world.add(Node(world.surroundings, name, boot))
        world.run(3600 * SECOND)
        assert world.network.sent == 2 * CALLS
        world.trace.digest()
        return CALLS

    return run


# --- seeds ---

CHAOS = (
    Fault(Lose(), at_ms=50, for_ms=200),
    Fault(Crash("worker1"), at_ms=100, for_ms=100),
    Fault(Duplicate(), at_ms=150, for_ms=200),
    Fault(Crash("dispatcher"), at_ms=200, for_ms=100),
)


def chaos(seed: int) -> Scenario:
    """One dispatcher, three workers, two readers, 200 elements; packets are lost and doubled, and both sides crash."""
    plan = ReaderPlan(), ReaderPlan()
    return Scenario(seed, Workload("range", 200), workers=(WorkerPlan(),) * 3, readers=plan, faults=CHAOS)


def seeds(engine: Callable[[int], Engine]) -> Callable[[int], float]:
    """Plays and judges that many seeds."""

    def run(number: int) -> float:
        for seed in range(number * SEEDS, (number + 1) * SEEDS):
            scenario = chaos(seed)
            verdict = judge(scenario, *stage(scenario, World(seed, Tempo(), engine=engine(seed))))
            assert not verdict.problems, verdict.problems
        return SEEDS

    return run


# --- a large cluster ---

CLUSTERS = ((10, 1, 100_000), (100, 10, 1_000_000), (1000, 100, 10_000_000))
"""Workers, trainers and elements."""
HOUR_S = 3600.0
PER_STEP = 100


def large(workers: int, trainers: int, elements: int) -> None:
    """Trainers that take their share of all elements in an hour of simulated time; prints what that costs."""
    step_ms = HOUR_S * 1000 * PER_STEP * trainers / elements
    experiment = Experiment(
        Source.even(elements, 100),
        Costs(operators=(Fixed(1.0),), step_ms=Fixed(step_ms), batch=PER_STEP),
        workers=workers,
        trainers=trainers,
        until_s=HOUR_S,
        buffers=Buffers(frame=64, worker=64, trainer=100 * workers, worker_beat_s=30.0, trainer_beat_s=30.0),
    )
    began = time.process_time()
    lab = Lab(experiment)
    lab.set_up()
    lab.run_to(60.0)
    opened = time.process_time() - began
    taken = sum(book.taken for book in lab.books)
    lab.run_to(HOUR_S)
    spent = time.process_time() - began
    outcome = lab.meter.outcome()
    each = (spent - opened) / (outcome.elements - taken) * 1e6
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(
        f"  {workers:>5} workers, {trainers:>3} trainers, {outcome.elements:>10,} elements taken in an hour: "
        f"{spent:6.1f} s, of them {opened:5.1f} s for the first minute; {each:5.1f} us an element; "
        f"{outcome.calls:,} calls; {memory:,} MB",
        flush=True,
    )
    assert not outcome.repeated


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--part", choices=("calls", "seeds", "large"))
    parser.add_argument(
        "--clusters", type=int, default=len(CLUSTERS), help="how many of the clusters, from the smallest on"
    )
    asked = parser.parse_args()
    if asked.part in (None, "calls"):
        print("calls a second")
        print("  bare SimPy, stores and processes ", rate(asked.rounds, simpy_calls))
        print("  bare SimPy, callbacks            ", rate(asked.rounds, simpy_callbacks))
        for name, engine in ENGINES.items():
            print(f"  machines on nodes, {name:<14}", rate(asked.rounds, our_calls(engine)))
    if asked.part in (None, "seeds"):
        print("seeds a second: 3 workers, 2 readers, 200 elements, chaos")
        for name, engine in ENGINES.items():
            print(f"  {name:<33}", rate(asked.rounds, seeds(engine)))
    if asked.part in (None, "large"):
        print("a large cluster, bare heap, trace hash on")
        for cluster in CLUSTERS[: asked.clusters]:
            large(*cluster)


if __name__ == "__main__":
    main()
