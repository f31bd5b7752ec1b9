"""Elements a second of one core through single operators, read from Python, beside tf.data and beside loops.

    python -m benchmarks.operators [--rounds 5] [--seconds 1] [--only shuffle]

Each side runs in a process of its own. They are measured in turns, from the first element of a pass on and for so
many seconds; the table shows medians. Time is that of the processor in all threads of the process, so other work on
the machine and a second core change little. A loop does the same by hand, without any library but NumPy. Python
functions run in tf.data as ``tf.numpy_function``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Iterable
from typing import Any

from benchmarks.operator_cases import CASES, Case, folder
from benchmarks.sides import MODULES, Child, load


def rate(case: Case, elements: Iterable[Any], seconds: float) -> float:
    """Elements of the input a second of processor time."""
    count, started = 0, time.process_time()
    iterator = iter(elements)
    if not case.whole:
        next(iterator)
        started = time.process_time()
    for _ in iterator:
        count += 1
        if not count % 64 and not case.whole and time.process_time() > started + seconds:
            break
    return count * case.rows / (time.process_time() - started)


def run(side: str) -> None:
    """A process of one side; measures what each line of its input asks for."""
    tf = None if side == "loop" else load(side)
    for line in sys.stdin:
        name, seconds = json.loads(line)
        case = CASES[name]
        if tf is None:
            found = rate(case, case.loop(), seconds) if case.loop else 0.0
        else:
            found = rate(case, case.make(tf).as_numpy_iterator(), seconds)
        print(json.dumps(found), flush=True)


def compare(names: list[str], rounds: int, seconds: float) -> None:
    """Measures all sides in turns and prints a table in Markdown."""
    folder()
    sides = {name: Child("benchmarks.operators", "--side", name) for name in (*MODULES, "loop")}
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, medians of {rounds} runs, seconds of one core\n"
    )
    print("| pipeline | tfsvc, elements/s | TensorFlow 2.21, elements/s | ratio | time over a loop's |")
    print("|---|---|---|---|---|")
    try:
        for name in names:
            found = [[side.ask(name, seconds) for side in sides.values()] for _ in range(rounds)]
            ours, theirs, loop = map(statistics.median, zip(*found, strict=True))
            ratio = statistics.median(row[0] / row[1] for row in found)
            beside = f"{statistics.median(row[2] / row[0] for row in found):.2f}" if loop else ""
            print(f"| {name} | {ours:,.0f} | {theirs:,.0f} | {ratio:.1f} | {beside} |", flush=True)
    finally:
        for side in sides.values():
            side.stop()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--only", default="", help="measure only what has this in its name")
    parser.add_argument("--side", choices=(*MODULES, "loop"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        run(options.side)
    else:
        compare([name for name in CASES if options.only in name], options.rounds, options.seconds)


if __name__ == "__main__":
    main()
