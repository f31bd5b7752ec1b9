"""The pools: where simulated nodes run pipelines or pieces of graphs, a few at a time, for simulated time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from tfsvc.execution.runner import Runner
from tfsvc.graph.runner import GraphRunner
from tfsvc.protocol.computing import Computation
from tfsvc.protocol.contract import Compute, Produce, Wipe
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.luck import Luck
from tfsvc.protocol.production import Production
from tfsvc_sim.kernel.engine import Engine


@dataclass(frozen=True, slots=True)
class Speed:
    """What a pipeline costs: ``slice_ns`` for each run, ``element_ns`` for each element it gives.

    Attributes:
      slots: how many pipelines run at once.
      checkpoint_every: elements between two checkpoints of a pipeline.
    """

    slice_ns: int = MILLISECOND
    element_ns: int = 5 * MILLISECOND
    slots: int = 2
    checkpoint_every: int = 256

    def pool(self, engine: Engine, produced: Callable[[int, Production], None]) -> Pool:
        """What runs the pipelines of one life of a node at this speed."""
        return Pool(engine, self, produced)


class Pool:
    """Runs the real pipelines in no time, and hands their output over when simulated time has passed.

    Args:
      produced: called with the producer's number and what it gave.
    """

    def __init__(self, engine: Engine, speed: Speed, produced: Callable[[int, Production], None]) -> None:
        self.factor = 1
        """How many times slower than usual; a fault sets it."""
        self._engine = engine
        self._speed = speed
        self._produced = produced
        self._runner = Runner(clock=None, checkpoint_every=speed.checkpoint_every)
        self._waiting: deque[Produce] = deque()
        self._running = 0

    def produce(self, command: Produce) -> None:
        self._waiting.append(command)
        self._start()

    def discard(self, producer: int) -> None:
        self._runner.discard(producer)

    def _start(self) -> None:
        while self._waiting and self._running < self._speed.slots:
            command = self._waiting.popleft()
            self._running += 1
            production, cost = self.carry_out(command)
            self._engine.call_at(self._engine.now + cost, self._done, command.producer, production)

    def carry_out(self, command: Produce) -> tuple[Production, int]:
        """What a pipeline gives, and how many nanoseconds that takes."""
        production = self._runner.run(command)
        elements = production.written + sum([frame.count for frame in production.frames])
        return production, (self._speed.slice_ns + elements * self._speed.element_ns) * self.factor

    def _done(self, producer: int, production: Production) -> None:
        self._running -= 1
        self._produced(producer, production)
        self._start()


@dataclass(frozen=True, slots=True)
class GraphSpeed:
    """What a run of a piece costs.

    Attributes:
      slots: how many pieces run at once.
    """

    run_ns: int = MILLISECOND
    slots: int = 2


class GraphPool:
    """Runs pieces of graphs in no time, and hands over what they give when simulated time has passed.

    Args:
      luck: seeds the random numbers that graphs draw.
      computed: called with the piece's number and what it came to.
    """

    def __init__(
        self, engine: Engine, speed: GraphSpeed, luck: Luck, computed: Callable[[int, Computation], None]
    ) -> None:
        self.factor = 1
        """How many times slower than usual; a fault sets it."""
        self._engine = engine
        self._speed = speed
        self._computed = computed
        self._runner = GraphRunner(luck.bits)
        self._waiting: deque[Compute] = deque()
        self._running = 0

    def compute(self, command: Compute) -> None:
        self._waiting.append(command)
        self._start()

    def wipe(self, command: Wipe) -> None:
        self._runner.wipe(command)

    def discard(self, piece: int) -> None:
        self._runner.discard(piece)

    def _start(self) -> None:
        while self._waiting and self._running < self._speed.slots:
            command = self._waiting.popleft()
            self._running += 1
            computation = self._runner.run(command)
            self._engine.call_at(
                self._engine.now + self._speed.run_ns * self.factor, self._done, command.piece, computation
            )

    def _done(self, piece: int, computation: Computation) -> None:
        self._running -= 1
        self._computed(piece, computation)
        self._start()
