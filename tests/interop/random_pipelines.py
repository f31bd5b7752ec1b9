"""Compares random pipelines under ``tfsvc`` and under TensorFlow, and resumes each of them at every cut.

    python -m tests.interop.random_pipelines [--count 20000] [--seed 0] [--processes 2] [--keep-going]
    python -m tests.interop.random_pipelines --replay CODE

The pipelines are a function of ``--seed`` and ``--count`` alone, and no two are the same. One that differs is made as
small as it can be, and printed as a script that runs under both, with the command that compares it again. Fails when
something differs, and when an operator was never drawn.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import click

from tests.interop.tally import Tally
from tests.pipelines.pipeline import Pipeline, replay

SHARE = 500
"""Pipelines a process. TensorFlow keeps every function that it has traced, so processes are not kept."""


@click.command()
@click.option("--count", default=20_000, show_default=True, help="Pipelines, all of them different.")
@click.option("--seed", default=0, show_default=True, help="Which pipelines.")
@click.option("--processes", default=os.cpu_count() or 1, show_default=True, help="Processes at a time.")
@click.option("--keep-going", is_flag=True, help="Collect all differences as they are, rather than a small one.")
@click.option("--replay", "code", help="Compare this pipeline alone.")
def main(count: int, seed: int, processes: int, keep_going: bool, code: str | None) -> None:
    """Compares random pipelines under tfsvc and under TensorFlow."""
    if code is not None:
        sys.exit(not compare_one(code))
    started = time.monotonic()
    tally = Tally()
    size, places = min(SHARE, count), itertools.count(seed * 1_000_000)
    under_way: deque[Future[Tally]] = deque()
    with ThreadPoolExecutor(processes) as pool:
        while len(tally.pipelines) < count and (keep_going or not tally.differences):
            # Only what is needed for sure: a share may have drawn what others have.
            while len(under_way) <= processes and len(tally.pipelines) + size * len(under_way) < count:
                under_way.append(pool.submit(compare_in_process, next(places), size, keep_going))
            done = under_way.popleft().result()
            tally.add(done)
            print("".join(f"\nDIFFERENT\n{told}\n" for told in sorted(done.differences, key=len)), end="")
            print(f"\r{_so_far(tally, started)}", end="", flush=True)
        pool.shutdown(cancel_futures=True)
    print(f"\n{tally}")
    if tally.never_drawn:
        print(f"\nnever drawn: {', '.join(tally.never_drawn)}")
    print(f"\n{_so_far(tally, started)}, {len(tally.differences)} different")
    sys.exit(bool(tally.differences or tally.never_drawn))


def _so_far(tally: Tally, started: float) -> str:
    seconds = time.monotonic() - started
    drawn = len(tally.pipelines)
    return f"{drawn:,} pipelines, {seconds:,.0f} s, {drawn / seconds:.1f}/s"


def compare_one(code: str) -> bool:
    """Compares a pipeline and tells what came of it; whether it is the same."""
    from tests.interop.likeness import compare

    comparison = compare(Pipeline(code))
    print("the same" if comparison.is_the_same else comparison)
    if comparison.allowed:
        print(f"explained differences: {', '.join(comparison.allowed)}")
    return comparison.is_the_same


def compare_in_process(number: int, count: int, keep_going: bool) -> Tally:
    """Runs :mod:`tests.interop.share`; a process that ends early is a difference, with the pipeline that ended it."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "pipeline"
        command = [sys.executable, "-m", "tests.interop.share", str(number), str(count), str(log), str(keep_going)]
        environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode:
            last = replay(Pipeline(log.read_text())) if log.exists() else ""
            return Tally(differences=[f"ended the process ({done.returncode}):\n{last}\n{done.stderr[-2000:]}"])
    return Tally.from_json(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
