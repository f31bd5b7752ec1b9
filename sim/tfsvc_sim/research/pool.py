"""The pool of a worker in an experiment: counted elements, at the worker's own speed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.contract import Produce
from tfsvc.protocol.production import Broken, Production
from tfsvc.protocol.splits import Span
from tfsvc_sim.kernel.engine import Engine
from tfsvc_sim.nodes.pool import Pool, Speed
from tfsvc_sim.research.costs import Pipe, Prices
from tfsvc_sim.research.pipeline import Pipeline


@dataclass(slots=True)
class Output:
    """What a worker has done in all its lives.

    Attributes:
      made: elements.
      busy_ns: time in which a slot was at work.
    """

    made: int = 0
    busy_ns: int = 0


@dataclass(frozen=True, slots=True)
class Bench(Speed):
    """The speed of one worker in an experiment.

    Attributes:
      worker: its address.
      layout: the elements of each split.
      storage: what all workers read from.
    """

    worker: str = ""
    layout: Sequence[Span] = ()
    element_bytes: int = 0
    prices: Prices | None = None
    storage: Pipe | None = None
    output: Output | None = None

    def pool(self, engine: Engine, produced: Callable[[int, Production], None]) -> Pool:
        return CountingPool(engine, self, produced)


class CountingPool(Pool):
    """Runs pipelines that count, in one life of a worker."""

    def __init__(self, engine: Engine, bench: Bench, produced: Callable[[int, Production], None]) -> None:
        super().__init__(engine, bench, produced)
        assert bench.prices is not None
        assert bench.storage is not None
        assert bench.output is not None
        self._bench = bench
        self._prices = bench.prices
        self._storage = bench.storage
        self._output = bench.output
        self._pipelines: dict[int, Pipeline] = {}

    def discard(self, producer: int) -> None:
        self._pipelines.pop(producer, None)

    def carry_out(self, command: Produce) -> tuple[Production, int]:
        bench = self._bench
        pipeline = self._pipelines.get(command.producer)
        if pipeline is None:
            if command.recipe is None:
                return Production((), Broken(RpcError(Code.CANCELLED, "the pipeline was dropped"))), 0
            pipeline = Pipeline(command.recipe, bench.layout, self._prices, bench.element_bytes)
            self._pipelines[command.producer] = pipeline
        production, spent = pipeline.run(command)
        now = self._engine.now
        spent = round(spent * self._prices.factor(bench.worker, now) * self.factor)
        count = sum(frame.count for frame in production.frames)
        self._output.made += count
        self._output.busy_ns += spent
        read = self._storage.passes(now, count * bench.element_bytes) - now
        return production, max(spent, read)
