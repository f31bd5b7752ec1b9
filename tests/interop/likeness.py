"""Whether a pipeline is the same under ``tfsvc`` and under TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import tensorflow

import tfsvc
from tests.interop.allowances import ALLOWANCES
from tests.interop.seeing import Seen, look
from tests.pipelines.pipeline import Pipeline, program, replay
from tests.pipelines.resuming import lost_at_cuts


@dataclass(frozen=True)
class Comparison:
    """A pipeline under both.

    Attributes:
      allowed: the names of the allowances that explain a difference.
      differences: for each aspect in which they differ otherwise, what was seen here and there.
      cuts: for each element behind which a pass of ours, resumed elsewhere, has another rest: that rest, and the right
        one.
    """

    pipeline: Pipeline
    ours: Seen
    theirs: Seen
    allowed: tuple[str, ...]
    differences: dict[str, tuple[Any, Any]]
    cuts: dict[int, tuple[list[Any], list[Any]]]

    @property
    def is_the_same(self) -> bool:
        """Whether nothing is left to explain."""
        return not (self.differences or self.cuts)

    def __str__(self) -> str:
        seen = [
            *(f"{what}:\n    tfsvc       {a}\n    tensorflow  {b}\n" for what, (a, b) in self.differences.items()),
            *(
                f"behind {cut} elements:\n    resumed     {a}\n    should be   {b}\n"
                for cut, (a, b) in self.cuts.items()
            ),
        ]
        return (
            f"{''.join(seen)}\nTo see it, run this with `tfsvc` and with `tensorflow`:\n\n"
            f"{program(self.pipeline, 'tfsvc')}\nTo compare it again:\n\n{replay(self.pipeline)}"
        )


def compare(pipeline: Pipeline) -> Comparison:
    """Looks at the pipeline under both modules, and resumes ours at every cut."""
    ours, theirs = look(pipeline, tfsvc), look(pipeline, tensorflow)
    allowed, differences = [], {}
    for aspect in _aspects(ours, theirs):
        mine, its = getattr(ours, aspect), getattr(theirs, aspect)
        for allowance in ALLOWANCES[aspect]:
            if allowance(pipeline, ours, theirs):
                allowed.append(allowance.__name__)
                break
        else:
            differences[aspect] = (mine, its)
    cuts = {} if ours.failure else lost_at_cuts(pipeline)
    return Comparison(pipeline, ours, theirs, tuple(allowed), differences, cuts)


def _aspects(ours: Seen, theirs: Seen) -> Iterator[str]:
    """Where the two differ; of a dataset that only one could build, nothing else is compared."""
    if ours.failure != theirs.failure:
        yield "failure"
        return
    yield from (field.name for field in fields(Seen) if getattr(ours, field.name) != getattr(theirs, field.name))


def crashes_tensorflow(pipeline: Pipeline) -> bool:
    """Whether this ends the process: TensorFlow 2.21 unbatches no rows of no numbers."""
    before = pipeline.code
    while (place := before.rfind(".unbatch()")) >= 0:
        before = before[:place]
        try:
            elements = list(Pipeline(before).build(tfsvc).ignore_errors().take(50))
        except Exception:
            continue
        if any(
            leaf.size == 0 and len(leaf) and leaf.dtype != object
            for element in elements
            for leaf in tfsvc.nest.flatten(element)
            if getattr(leaf, "ndim", 0)
        ):
            return True
    return False
