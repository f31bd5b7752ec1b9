"""One process's share of random pipelines; :mod:`tests.interop.random_pipelines` starts it."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

from hypothesis import HealthCheck, Phase, assume, given, seed, settings

from tests.interop.likeness import compare, crashes_tensorflow
from tests.interop.tally import Tally
from tests.pipelines.drawing import pipelines
from tests.pipelines.pipeline import Pipeline

SECONDS = 120
"""How long a pipeline may take. No Python runs while TensorFlow waits for ever, so the signal ends the process."""


class DiffersError(Exception):
    """Two datasets that should be the same are not."""


def compare_share(number: int, count: int, log: Path, keep_going: bool) -> Tally:
    """Draws pipelines and compares them until one differs, which is then made small, or with ``keep_going`` to the end.

    Args:
      number: the seed of the draws.
      count: how many pipelines.
      log: where the one that is being compared is written, for the case that TensorFlow ends the process.
      keep_going: whether differences are collected as they are.
    """
    tally = Tally()

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate] if keep_going else [Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(pipelines())
    def compares(pipeline: Pipeline) -> None:
        assume(not crashes_tensorflow(pipeline))
        log.write_text(pipeline.code)
        signal.alarm(SECONDS)
        comparison = compare(pipeline)
        new = tally.count(comparison)
        if not comparison.is_the_same and (new or not keep_going):
            tally.differences.append(str(comparison))
            if not keep_going:
                raise DiffersError

    try:
        compares()
    except DiffersError:
        # Hypothesis has ended with the smallest.
        tally.differences = tally.differences[-1:]
    return tally


if __name__ == "__main__":
    number, count, log, keep_going = sys.argv[1:]
    found = compare_share(int(number), int(count), Path(log), keep_going == "True")
    print(json.dumps(found.to_json()))
