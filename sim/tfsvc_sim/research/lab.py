"""The lab: an experiment as a world of real machines, with trainers, crashes, scaling, and a meter for each worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from tfsvc.protocol import messages as m
from tfsvc.protocol.client.machine import Client
from tfsvc.protocol.client.request import ReadRequest
from tfsvc.protocol.ids import MILLISECOND, SECOND, Instant
from tfsvc.protocol.splits import Span, SplitPlan
from tfsvc.protocol.steering import Steering
from tfsvc_sim.faults import Crash, Fault, apply
from tfsvc_sim.kernel.disk import Aftermath
from tfsvc_sim.kernel.engine import Engine
from tfsvc_sim.kernel.heap import HeapEngine
from tfsvc_sim.nodes.node import Node
from tfsvc_sim.nodes.world import World, worker_address
from tfsvc_sim.research.book import Book
from tfsvc_sim.research.costs import Pipe, Prices
from tfsvc_sim.research.draws import Draws
from tfsvc_sim.research.experiment import Experiment, Reading
from tfsvc_sim.research.laws import Exponential
from tfsvc_sim.research.meter import Meter
from tfsvc_sim.research.pardon import Pardonable
from tfsvc_sim.research.pool import Bench, Output
from tfsvc_sim.research.trainer import StepNs, Together, Trainer

BOOT_NS: Final = 100 * MILLISECOND
"""What workers have to register before trainers begin."""
DATASET: Final = "data"
JOB: Final = "training"


class Lab(World):
    """A world in which an experiment is made.

    Args:
      experiment: what to do.
      keep: whether the trace stays readable.
      engine: whose time; the bare heap when not given, which runs as SimPy does, and faster.
    """

    def __init__(self, experiment: Experiment, keep: bool = False, engine: Engine | None = None) -> None:
        seed = experiment.seed
        super().__init__(seed, experiment.tempo, keep, engine or HeapEngine(seed))
        self.experiment = experiment
        self.trainers: dict[str, Trainer] = {}
        self.prices = Prices(experiment.costs, seed)
        self.outputs: dict[str, Output] = {}
        self.hired: dict[str, None] = {}
        """Workers that are wanted, whether or not they are there."""
        self.paid_since: dict[str, Instant] = {}
        """Workers that are paid for."""
        self.paid_ns = 0
        """What was paid for others, in worker's nanoseconds."""
        self.began_at: Instant = 0
        policy = experiment.policy()
        self._layout: Sequence[Span] = tuple(policy.splits(experiment.source, experiment.workers))
        self._storage = Pipe(experiment.costs.storage_bytes_per_s)
        self.books: list[Book] = []
        self.meter = Meter(self)
        self._pardons: dict[str, None] = {}

    @property
    def readers(self) -> Sequence[str]:
        return tuple(self.trainers)

    # --- who is there ---

    def set_up(self) -> None:
        """Starts everything, and runs until trainers may begin; they begin at ``began_at``."""
        experiment = self.experiment
        self.add_dispatcher(compacts=False)
        for _ in range(experiment.workers):
            self.hire()
        plans = (SplitPlan(len(self._layout)),)
        self.register(DATASET, m.DatasetDef(program=b"counted", plans=plans))
        self.run(BOOT_NS)
        self.began_at = self.now
        self.paid_since = dict.fromkeys(self.hired, self.now)
        together = Together() if experiment.reading is Reading.COORDINATED else None
        for number in range(experiment.trainers):
            self._add_trainer(number, together)
        for number, name in enumerate(self.trainers):
            starts_s = experiment.starts_s[number] if number < len(experiment.starts_s) else 0.0
            self.at(round(starts_s * SECOND), partial(self.join, name))
        apply([self._pardonable(fault) for fault in (*experiment.faults, *self._crashes())], self)
        self.meter.begin()

    def steering(self) -> Steering:
        return self.experiment.policy()

    def hire(self) -> str:
        """One more worker, which is paid for from now on."""
        address = worker_address(len(self.workers))
        output = self.outputs[address] = Output()
        costs = self.experiment.costs
        bench = Bench(
            slots=costs.slots,
            worker=address,
            layout=self._layout,
            element_bytes=self.experiment.source.element_bytes,
            prices=self.prices,
            storage=self._storage,
            output=output,
        )
        self.add_worker(bench, start=False)
        self.hired[address] = None
        self.paid_since[address] = self.now
        wait_ns = self.prices.start_ns(address) if self.began_at else 0
        if wait_ns:
            self.at(wait_ns, partial(self.restart, address))
        else:
            self.restart(address)
        return address

    def fire(self) -> None:
        """One worker fewer: the newest ends in good order, and comes back no more."""
        address = next(reversed(self.hired))
        del self.hired[address]
        self.killed[address] = None
        self.stop(address)
        if not self.nodes[address].alive:
            self._release(address)

    def _release(self, address: str) -> None:
        since = self.paid_since.pop(address, None)
        if since is not None:
            self.paid_ns += self.now - since

    def _add_trainer(self, number: int, together: Together | None) -> None:
        experiment, address = self.experiment, f"reader{number}"
        shared = experiment.reading is Reading.SHARED
        if not self.books or not shared:
            self.books.append(Book(experiment.source.elements))
        card = Pipe(experiment.costs.link_bytes_per_s)
        coordinated = experiment.reading is Reading.COORDINATED
        batch = 1 if coordinated else experiment.costs.batch
        trainer = Trainer(self.engine, self.books[-1], card, self._steps(number, address), batch, experiment.steps)
        if together is not None:
            trainer.together = together
            together.members.append(trainer)
        own = experiment.reading is Reading.OWN
        divided = shared or own
        request = ReadRequest(
            DATASET,
            m.ShardingPolicy.DYNAMIC if divided else m.ShardingPolicy.OFF,
            None if own else JOB,
            consumer_index=number,
            num_consumers=experiment.trainers if coordinated else None,
            coordinated=coordinated,
            trainer_id=address if experiment.reading is Reading.CACHED else "",
        )
        settings = self.tempo.client
        trainer.node = Node(
            self.surroundings,
            address,
            lambda life, luck, _: Client(request, settings, address, life, luck),
            finished=trainer.finished,
        )
        self.trainers[address] = trainer
        self.add(trainer.node, start=False)

    def _steps(self, number: int, address: str) -> StepNs:
        slowness = self.experiment.slowness
        factor = slowness[number] if number < len(slowness) else 1.0
        lengths = self.experiment.lengths
        if lengths is None:
            return lambda step, _: round(factor * self.prices.step_ns(address, step))
        draws = Draws(self.experiment.seed, "lengths")

        def by_length(step: int, taken: list[Span]) -> int:
            units = [draws.unit(i // lengths.alike) for span in taken for i in range(*span)]
            return round(factor * MILLISECOND * max(lengths.step_ms.at(unit) for unit in units))

        return by_length

    def join(self, reader: str) -> None:
        self.nodes[reader].start()
        self.trainers[reader].start()

    # --- what happens to them ---

    def _crashes(self) -> list[Fault]:
        """Crashes of the workers of the beginning, each at moments of its own."""
        rate = self.experiment.crash_rate
        found: list[Fault] = []
        if rate:
            gap, down_ms = Exponential(3600.0 / rate), max(1, round(self.experiment.restart_s * 1000))
            for worker in self.workers:
                draws, at_s, count = Draws(self.experiment.seed, f"crash/{worker}"), 0.0, 0
                while (at_s := at_s + gap.at(draws.unit(count))) < self.experiment.until_s:
                    found.append(Fault(Crash(worker), round(at_s * 1000), down_ms))
                    at_s += down_ms / 1000
                    count += 1
        return found

    def _pardonable(self, fault: Fault) -> Fault:
        return Fault(Pardonable(fault.what, self._pardons), fault.at_ms, fault.for_ms, fault.upon)

    def pardon(self, node: str) -> None:
        """Nothing more happens to a node by itself."""
        self._pardons[node] = None

    def crash(self, address: str, silent: bool = False, aftermath: Aftermath = Aftermath.TORN) -> None:
        super().crash(address, silent, aftermath)
        if address in self.killed:
            self._release(address)

    def kill(self, address: str, silent: bool = False) -> None:
        super().kill(address, silent)
        self._release(address)
        self.hired.pop(address, None)

    # --- running ---

    def all_left(self) -> bool:
        return all(trainer.done for trainer in self.trainers.values())

    def run_to(self, at_s: float, done: Callable[[], bool] | None = None) -> bool:
        """Runs until so many seconds after the beginning, or until all trainers have left; whether they have."""
        left = self.began_at + round(at_s * SECOND) - self.now
        return self.run_until(done or self.all_left, max(0, left))
