"""The Hypothesis strategy of pipelines."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import tfsvc
from tests.pipelines import steps
from tests.pipelines.pipeline import Pipeline
from tests.pipelines.sources import OWN, sources

LONGEST = 6
"""Steps of a pipeline at most; some make two or three calls."""


@st.composite
def pipelines(draw: st.DrawFn, own: bool = False, longest: int = LONGEST) -> Pipeline:
    """A source and up to ``longest`` steps, which fit the elements before them.

    Those of ``own`` are for ``tfsvc`` alone.

    What fits is read off the spec of the pipeline so far, as ``tfsvc`` has it; where that fails, the pipeline ends.
    A dataset without end is cut at once, since what cannot end cannot be compared.
    """
    pipeline = Pipeline(draw(st.one_of(sources(), OWN) if own else sources()))
    for _ in range(draw(st.integers(0, longest))):
        found = fits(pipeline)
        if found is None:
            break
        step = draw(draw(st.sampled_from(_steps_for(found, own)))(found))
        pipeline = Pipeline(pipeline.source, (*pipeline.steps, step))
        if step in (".repeat()", ".repeat(-1)"):
            pipeline = Pipeline(
                pipeline.source, (*pipeline.steps, draw(st.sampled_from([".take(7)", ".batch(2).take(4)"])))
            )
    return pipeline


def fits(pipeline: Pipeline) -> steps.Fit | None:
    try:
        found = steps.fit_of(pipeline.build(tfsvc).element_spec)
    except Exception:
        return None
    return found if found.leaves else None


def _steps_for(found: steps.Fit, own: bool) -> list[Any]:
    choices = [*steps.EVERYWHERE, *steps.OWN] if own else list(steps.EVERYWHERE)
    if all(leaf.shape is None or leaf.shape for leaf in found.leaves):
        choices += steps.ROWS
    if len(found.leaves) == 1 and found.leaves[0].dtype in ("int32", "int64", "string"):
        choices += steps.VALUES
    return choices
