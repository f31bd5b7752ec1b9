"""The runner: all pipelines of a worker, each told apart by its producer's number."""

from __future__ import annotations

from typing import Final

from tfsvc.data.sharding import Share, share_of
from tfsvc.errors import Code, RpcError, from_exception
from tfsvc.execution.pipeline import CHECKPOINT_EVERY, Clock, Pipeline
from tfsvc.execution.program import open_program
from tfsvc.protocol.contract import Produce
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.production import Broken, Production, Recipe

SLICE_NS: Final = 20 * MILLISECOND


class Runner:
    """Carries out ``Produce`` commands; the commands of one producer come one at a time.

    Args:
      clock: measures the slices; ``None`` where time is simulated.
      slice_ns: how long one run goes on at the most, once it has an element; 20 ms.
      checkpoint_every: elements between two checkpoints of a pipeline at the least; 256.
    """

    def __init__(
        self, clock: Clock | None = None, slice_ns: int = SLICE_NS, checkpoint_every: int = CHECKPOINT_EVERY
    ) -> None:
        self._pipelines: dict[int, Pipeline] = {}
        self._clock = clock
        self._slice_ns = slice_ns
        self._checkpoint_every = checkpoint_every

    def run(self, command: Produce) -> Production:
        """One slice of a pipeline. Never raises: a pipeline that cannot start or go on is ``Broken``."""
        try:
            pipeline = self._pipelines.get(command.producer)
            if pipeline is None:
                if command.recipe is None:
                    return Production((), Broken(RpcError(Code.CANCELLED, "the pipeline was dropped")))
                pipeline = self._pipelines[command.producer] = self._start(command.recipe)
            return pipeline.run(command)
        except Exception as error:
            self._pipelines.pop(command.producer, None)
            return Production((), Broken(from_exception(error, "the worker could not run the dataset")))

    def discard(self, producer: int) -> None:
        self._pipelines.pop(producer, None)

    def _start(self, recipe: Recipe) -> Pipeline:
        if not recipe.dataset.program:
            raise NotImplementedError(
                f"dataset {recipe.dataset_id} was registered by TensorFlow, whose graphs only its own workers run"
            )
        program = open_program(recipe.dataset)
        if recipe.policy.static:
            program = share_of(program, recipe.policy, Share(recipe.num_workers, recipe.worker_index))
        return Pipeline(program, recipe, self._clock, self._slice_ns, self._checkpoint_every)
