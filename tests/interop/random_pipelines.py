"""Compares random pipelines under ``tfsvc`` and under TensorFlow.

    python -m tests.interop.random_pipelines [--count 20000] [--seed 0] [--processes 2] [--keep-going]

The pipelines are a function of ``--seed`` and ``--count`` alone. One that differs is made as small as it can be, and
printed as a script that runs under both. Fails when something differs, and when an operator was never drawn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from tests.interop.tally import Tally

SHARE = 500
"""Pipelines a process. TensorFlow keeps every function that it has traced, so processes are not kept."""


@click.command()
@click.option("--count", default=20_000, show_default=True, help="Pipelines.")
@click.option("--seed", default=0, show_default=True, help="Which pipelines.")
@click.option("--processes", default=2, show_default=True, help="Processes at a time.")
@click.option("--keep-going", is_flag=True, help="Collect all differences as they are, rather than a small one.")
def main(count: int, seed: int, processes: int, keep_going: bool) -> None:
    """Compares random pipelines under tfsvc and under TensorFlow."""
    started = time.monotonic()
    shares = [min(SHARE, count - first) for first in range(0, count, SHARE)]
    tally = Tally()
    with ThreadPoolExecutor(processes) as pool:
        numbered = [(seed * 1_000_000 + place, size) for place, size in enumerate(shares)]
        for done in pool.map(lambda share: compare_in_process(*share, keep_going), numbered):
            tally.add(done)
            seconds = time.monotonic() - started
            drawn = len(tally.pipelines)
            print("".join(f"\nDIFFERENT\n{told}\n" for told in sorted(done.differences, key=len)), end="")
            print(f"\r{drawn:,} pipelines, {seconds:,.0f} s, {drawn / seconds:.1f}/s", end="", flush=True)
            if tally.differences and not keep_going:
                pool.shutdown(cancel_futures=True)
                break
    print(f"\n{tally}")
    if tally.never_drawn:
        print(f"\nnever drawn: {', '.join(tally.never_drawn)}")
    sys.exit(bool(tally.differences or tally.never_drawn))


def compare_in_process(number: int, count: int, keep_going: bool) -> Tally:
    """Runs :mod:`tests.interop.share`; a process that ends early is a difference, with the pipeline that ended it."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "pipeline"
        command = [sys.executable, "-m", "tests.interop.share", str(number), str(count), str(log), str(keep_going)]
        environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode:
            last = log.read_text() if log.exists() else ""
            return Tally(differences=[f"ended the process ({done.returncode}):\n{last}\n{done.stderr[-2000:]}"])
    return Tally.from_json(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
