"""Elements a second from one worker process to one reader, beside every system that is installed and does the same.

    python -m benchmarks.throughput [--rounds 5] [--seconds 2] [--plot rates.svg]

All give the same elements, from one worker process to one reader process on this machine, element by element in the
reader's loop, uncompressed; ours over gRPC alone, and with shared memory, as it comes. They are measured in turns. The
table shows medians, and of the ratios within rounds to the best peer of the round their median and spread.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from typing import Final

from benchmarks.feeders import FEEDERS, OURS, serve
from benchmarks.sides import Child, machine, ratio

SIZES: Final = {"int64 scalar": 8, "4 KiB float32": 4 << 10, "256 KiB float32": 256 << 10, "4 MiB float32": 4 << 20}
WARM: Final = 20
STRIDE: Final = 16

Found = dict[str, dict[str, list[float]]]
"""Elements a second of each round, by feeder and kind of element."""


def read(name: str, target: str) -> None:
    """A process with a reader; measures what each line of its input asks for."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # some systems print there
    for line in sys.stdin:
        size, seconds = json.loads(line)
        elements = FEEDERS[name].elements(size, target)
        for _ in range(WARM):
            next(elements)
        count, started = 0, time.perf_counter()
        until = started + seconds
        while time.perf_counter() < until:
            for _ in range(STRIDE):
                next(elements)
            count += STRIDE
        print(json.dumps(count / (time.perf_counter() - started)), file=answers, flush=True)
        del elements


class Side:
    """The processes of one feeder."""

    def __init__(self, name: str) -> None:
        served = FEEDERS[name].served
        self._server = None if served is None else Child("benchmarks.throughput", "--serve", served)
        target = "" if self._server is None else self._server.line()
        self._reader = Child("benchmarks.throughput", "--read", name, "--target", target)

    def measure(self, size: int, seconds: float) -> float:
        """Elements a second."""
        return float(self._reader.ask(size, seconds))

    def stop(self) -> None:
        self._reader.stop()
        if self._server is not None:
            self._server.stop()


def measure(names: list[str], rounds: int, seconds: float) -> Found:
    """Measures all feeders in turns, each alone on the machine but for the idle others."""
    sides = {name: Side(name) for name in names}
    found: Found = {name: {kind: [] for kind in SIZES} for name in names}
    try:
        for _ in range(rounds):
            for kind, size in SIZES.items():
                for name, side in sides.items():
                    found[name][kind].append(side.measure(size, seconds))
    finally:
        for side in sides.values():
            side.stop()
    return found


def table(found: Found) -> str:
    """In Markdown: the rates, and for ours the ratio to the best peer."""
    peers = [name for name in found if name not in OURS]
    heads = [cell for name in OURS for cell in (f"tfsvc, {name}", "of the best peer's")]
    lines = [
        "| element, elements/s (MB/s) | " + " | ".join(heads + peers) + " |",
        "|---" * (1 + len(heads + peers)) + "|",
    ]
    for kind, size in SIZES.items():
        best = [max(rates) for rates in zip(*(found[name][kind] for name in peers), strict=True)]
        cells = [kind]
        for name in OURS:
            cells += [_rate(found[name][kind], size), ratio(found[name][kind], best)]
        cells += [_rate(found[name][kind], size) for name in peers]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _rate(rates: list[float], size: int) -> str:
    rate = statistics.median(rates)
    return f"{rate:,.0f} ({rate * size / 1e6:,.0f})"


def plot(found: Found, path: str) -> None:
    """Draws elements a second over the size of an element, with the spread of the rounds."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    for name, kinds in found.items():
        rates = [statistics.median(kinds[kind]) for kind in SIZES]
        spread = [[r - min(kinds[k]) for r, k in zip(rates, SIZES, strict=True)]]
        spread.append([max(kinds[k]) - r for r, k in zip(rates, SIZES, strict=True)])
        ours = name in OURS
        label = f"tfsvc, {name}" if ours else name
        axes.errorbar([*SIZES.values()], rates, spread, label=label, marker="o", lw=2.5 if ours else 1, capsize=3)
    axes.set(xscale="log", yscale="log", xlabel="bytes an element", ylabel="elements a second")
    axes.set_xticks([*SIZES.values()], [*SIZES])
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--plot", metavar="FILE", help="draw the rates there; needs matplotlib")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--read", choices=FEEDERS, help=argparse.SUPPRESS)
    parser.add_argument("--target", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    if options.read:
        read(options.read, options.target)
        return
    names = [name for name, feeder in FEEDERS.items() if feeder.installed]
    if missing := [name for name in FEEDERS if name not in names]:
        print(f"not installed: {', '.join(missing)}\n")
    print(f"{machine()} at the start; medians of {options.rounds} runs of {options.seconds:g} s\n")
    found = measure(names, options.rounds, options.seconds)
    print(table(found))
    print(f"\n{machine()} at the end")
    if options.plot:
        plot(found, options.plot)


if __name__ == "__main__":
    main()
