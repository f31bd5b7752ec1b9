"""What an element costs in processor time as its size, the workers or the readers grow; flat is good.

    python -m benchmarks.scale [--rounds 5] [--seconds 2] [--plot scale.svg]

A dispatcher, workers and readers, each a process of its own, share one job, dynamically sharded and exactly once. The
cost is the processor time of all of them, so that a machine with few cores can tell of many processes. Medians of
rounds taken in turns, with the smallest and the largest.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import tfsvc as tf
from benchmarks.sides import Child, machine
from tfsvc.data.experimental import service

SPLITS: Final = 1 << 40


@dataclass(frozen=True)
class Setting:
    """What is measured: elements of ``size`` bytes from so many workers to so many readers."""

    size: int = 4 << 10
    workers: int = 1
    readers: int = 1


AXES: Final = {
    "bytes an element": [Setting(size=size) for size in (8, 256, 4 << 10, 64 << 10, 1 << 20, 4 << 20)],
    "workers": [Setting(workers=n) for n in (1, 2, 4, 8)],
    "readers": [Setting(readers=n, workers=2) for n in (1, 2, 4, 8)],
}


def dataset(size: int) -> Any:
    """Endless elements that cost next to nothing to make."""
    numbers = tf.data.Dataset.range(SPLITS)
    if size == 8:
        return numbers
    block = np.zeros((1, size // 8), np.int64)

    @tf.data.experimental.vectorized
    def widen(column: Any) -> Any:
        return np.broadcast_to(block, (len(column), size // 8))

    return numbers.map(widen)


def serve(role: str, target: str) -> None:
    """A process with a dispatcher or a worker, which says what it has used whenever it is asked."""
    if role == "dispatcher":
        server = service.DispatchServer()
        print(server.target, flush=True)
    else:
        server = service.WorkerServer(service.WorkerConfig(dispatcher_address=target.split("://")[1]))
        print("ready", flush=True)
    for _ in sys.stdin:
        print(json.dumps(time.process_time()), flush=True)
    os._exit(0)


def read(target: str) -> None:
    """A process with a reader; each line of its input names a job to read for so many seconds."""
    for line in sys.stdin:
        size, job, seconds = json.loads(line)
        made = dataset(size).apply(service.distribute("distributed_epoch", target, job_name=job, compression=None))
        elements = iter(made)
        _read_for(elements, seconds / 2)
        print("warm", flush=True)
        used = time.process_time()
        count = _read_for(elements, seconds)
        print(json.dumps((count, time.process_time() - used)), flush=True)
        del elements


def _read_for(elements: Iterator[Any], seconds: float) -> int:
    count, until = 0, time.perf_counter() + seconds
    while time.perf_counter() < until:
        for _ in range(16):
            next(elements)
        count += 16
    return count


class Cluster:
    """The processes for one setting."""

    def __init__(self, setting: Setting, stack: ExitStack) -> None:
        self._setting = setting
        self._servers = [self._child(stack, "--serve", "dispatcher")]
        target = self._servers[0].line()
        for _ in range(setting.workers):
            worker = self._child(stack, "--serve", "worker", "--target", target)
            self._servers.append(worker)
            worker.line()
        self._readers = [self._child(stack, "--read", "--target", target) for _ in range(setting.readers)]

    @staticmethod
    def _child(stack: ExitStack, *arguments: str) -> Child:
        child = Child("benchmarks.scale", *arguments)
        stack.callback(child.stop)
        return child

    def cost(self, seconds: float, job: str) -> float:
        """Seconds of processor time an element, all processes together."""
        for reader in self._readers:
            reader.tell(self._setting.size, job, seconds)
        for reader in self._readers:
            reader.line()
        before = sum(server.ask() for server in self._servers)
        told = [json.loads(reader.line()) for reader in self._readers]
        used = sum(server.ask() for server in self._servers) - before
        return (used + sum(cpu for _, cpu in told)) / sum(count for count, _ in told)


def measure(settings: list[Setting], rounds: int, seconds: float) -> dict[Setting, list[float]]:
    """The cost of each setting in each round; one cluster lives at a time."""
    found: dict[Setting, list[float]] = {setting: [] for setting in settings}
    for number in range(rounds):
        for setting in found:
            with ExitStack() as stack:
                found[setting].append(Cluster(setting, stack).cost(seconds, f"round {number}"))
    return found


def print_table(axis: str, costs: dict[Setting, list[float]]) -> None:
    """In Markdown."""
    print(f"\n| {axis} | processor time an element, µs | a gigabyte, s |\n|---|---|---|")
    for setting, found in costs.items():
        cost = statistics.median(found)
        spread = f"{cost * 1e6:,.2f} ({min(found) * 1e6:,.2f} to {max(found) * 1e6:,.2f})"
        print(f"| {_place(axis, setting):,} | {spread} | {cost / setting.size * 1e9:,.2f} |", flush=True)


def _place(axis: str, setting: Setting) -> int:
    return {"bytes an element": setting.size, "workers": setting.workers, "readers": setting.readers}[axis]


def plot(found: dict[str, dict[Setting, list[float]]], path: str) -> None:
    """Draws the cost along each axis."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, all_axes = pyplot.subplots(1, len(found), figsize=(12, 3.8), layout="constrained")
    for axes, (axis, costs) in zip(all_axes, found.items(), strict=True):
        places = [_place(axis, setting) for setting in costs]
        middle = [statistics.median(c) * 1e6 for c in costs.values()]
        low = [m - min(c) * 1e6 for m, c in zip(middle, costs.values(), strict=True)]
        high = [max(c) * 1e6 - m for m, c in zip(middle, costs.values(), strict=True)]
        axes.errorbar(places, middle, [low, high], marker="o", capsize=3)
        axes.set(xscale="log", xlabel=axis, ylabel="processor time an element, µs")
        axes.set(yscale="log") if axis == "bytes an element" else axes.set(ylim=(0, None))
        axes.set_xticks(places, [f"{place:,}" for place in places], minor=False)
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    figure.savefig(path)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--plot", metavar="FILE", help="draw the costs there; needs matplotlib")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--target", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.target)
    elif options.read:
        read(options.target)
    else:
        print(f"{machine()} at the start; medians of {options.rounds} runs of {options.seconds:g} s")
        found = {axis: measure(settings, options.rounds, options.seconds) for axis, settings in AXES.items()}
        for axis, costs in found.items():
            print_table(axis, costs)
        if options.plot:
            plot(found, options.plot)


if __name__ == "__main__":
    main()
