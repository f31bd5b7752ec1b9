"""A function that keeps a core busy: `map` in processes beside a loop written by hand with `multiprocessing`.

    python -m benchmarks.processes [--rounds 5] [--elements 5000]

All sides call the same function for the same elements, keep their order, and take turns within each round, their
processes started before by a short run that is not timed; the table shows medians of the ratios within rounds. The
service is one worker process beside the reader's, exactly-once.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

import tfsvc as tf
from benchmarks.sides import machine, ratio

in_processes = tf.data.experimental.in_processes
service = tf.data.experimental.service
LOOPS: Final = 10_000
BYTES: Final = 256 << 10
WARM_UP: Final = 200


def burn(number: Any) -> Any:
    """Half a millisecond of Python, more or less."""
    total = int(number)
    for value in range(LOOPS):
        total ^= value * value
    return total


def burn_image(number: Any) -> Any:
    """The same, and an array of 256 KiB."""
    return np.full(BYTES // 4, burn(number) % 100, np.float32)


KINDS: Final[dict[str, Callable[[Any], Any]]] = {"int64": burn, "256 KiB float32": burn_image}


def serve() -> None:
    """A process with a dispatcher and a worker; says where, and ends with its input."""
    dispatcher = service.DispatchServer()
    worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher.target.split("://")[1]))
    print(dispatcher.target, flush=True)
    sys.stdin.read()
    worker.stop()
    dispatcher.stop()


def by_hand(processes: int) -> Iterator[Callable[[Any, int], Iterable[Any]]]:
    """What one writes without this library."""
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield lambda function, count: pool.imap(function, range(count), chunksize=16)


def mapped(processes: int) -> Callable[[Any, int], Iterable[Any]]:
    return lambda function, count: tf.data.Dataset.range(count).map(in_processes(function), processes)


def served(target: str, processes: int) -> Callable[[Any, int], Iterable[Any]]:
    def read(function: Any, count: int) -> Iterable[Any]:
        distribute = service.distribute("distributed_epoch", target)
        return tf.data.Dataset.range(count).map(in_processes(function), processes).apply(distribute)

    return read


def seconds(elements: Iterable[Any], count: int) -> float:
    """How long it takes to read them all."""
    started = time.perf_counter()
    found = sum(1 for _ in elements)
    assert found == count, f"{found} of {count} elements"
    return time.perf_counter() - started


def compare(rounds: int, count: int) -> None:
    """Measures all sides in turns and prints a table in Markdown."""
    command = [sys.executable, "-m", "benchmarks.processes", "--serve"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    target = server.stdout.readline().strip()
    hand = by_hand(2)
    sides = {
        "hand": next(hand),
        "one": mapped(1),
        "two": mapped(2),
        "service": served(target, 2),
    }
    found: dict[tuple[str, str], list[float]] = {(kind, side): [] for kind in KINDS for side in sides}
    for _ in range(rounds):
        for kind, function in KINDS.items():
            for side, run in sides.items():
                # Processes that idle end after a while, and a pool by hand never does.
                seconds(run(function, WARM_UP), WARM_UP)
                found[kind, side].append(seconds(run(function, count), count))
    hand.close()  # type: ignore[attr-defined]
    server.communicate()
    print(f"{machine()}, {rounds} rounds of {count} elements")
    print("\n| element | by hand, 2 processes | map, 2 processes | of 1 | of by hand | service | of by hand |")
    print("|---|---|---|---|---|---|---|")
    for kind in KINDS:
        print(
            f"| {kind} | {_rate(found[kind, 'hand'], count)} | {_rate(found[kind, 'two'], count)} "
            f"| {ratio(found[kind, 'one'], found[kind, 'two'])} | {ratio(found[kind, 'hand'], found[kind, 'two'])} "
            f"| {_rate(found[kind, 'service'], count)} | {ratio(found[kind, 'hand'], found[kind, 'service'])} |"
        )


def _rate(taken: list[float], count: int) -> str:
    return f"{count / statistics.median(taken):,.0f}/s"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--elements", type=int, default=5000)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
    else:
        compare(options.rounds, options.elements)


if __name__ == "__main__":
    main()
