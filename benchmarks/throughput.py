"""Elements a second from one worker process to one reader, both ways, beside TensorFlow's own service.

    python -m benchmarks.throughput [--rounds 5] [--seconds 2]

Both services run the same dataset, one worker process to one reader process on this machine, element by
element in the reader's loop, uncompressed; ours over gRPC alone, and with shared memory, as it comes. They are
measured in turns; the table shows medians.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from typing import Any, Final

import numpy as np

from benchmarks.sides import Child, load

SIDES: Final = {"shared memory": "tfsvc", "gRPC": "tfsvc", "TensorFlow": "TensorFlow"}
"""The ways that are compared, and whose they are."""
TRANSFERS: Final = {"gRPC": "grpc"}
SIZES: Final = {"int64 scalar": 8, "4 KiB float32": 4 << 10, "256 KiB float32": 256 << 10, "4 MiB float32": 4 << 20}


def dataset(tf: Any, size: int) -> Any:
    """Endless elements of ``size`` bytes."""
    if size == 8:
        return tf.data.Dataset.range(1 << 40)
    element = np.random.default_rng(0).random(size // 4, np.float32)
    return tf.data.Dataset.from_tensors(element).repeat()


def serve(side: str) -> None:
    """A process with a dispatcher and a worker; says where, and ends with its input."""
    service = load(SIDES[side]).data.experimental.service
    dispatcher = service.DispatchServer()
    address = dispatcher.target.split("://")[1]
    worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=address))
    print(dispatcher.target, flush=True)
    sys.stdin.read()
    del worker
    os._exit(0)


def read(side: str, target: str) -> None:
    """A process with a reader; measures what each line of its input asks for."""
    tf = load(SIDES[side])
    distribute = tf.data.experimental.service.distribute
    transfer = TRANSFERS.get(side)
    for line in sys.stdin:
        size, seconds = json.loads(line)
        made = dataset(tf, size).apply(
            distribute("parallel_epochs", target, compression=None, data_transfer_protocol=transfer)
        )
        elements = iter(made.as_numpy_iterator())
        for _ in range(20):
            next(elements)
        count, started = 0, time.perf_counter()
        until = started + seconds
        while time.perf_counter() < until:
            for _ in range(16):
                next(elements)
            count += 16
        print(json.dumps(count / (time.perf_counter() - started)), flush=True)
        del elements, made


class Side:
    """The processes of one service."""

    def __init__(self, name: str) -> None:
        self._server = Child("benchmarks.throughput", "--serve", name)
        self._reader = Child("benchmarks.throughput", "--read", name, "--target", self._server.line())

    def measure(self, size: int, seconds: float) -> float:
        """Elements a second."""
        return float(self._reader.ask(size, seconds))

    def stop(self) -> None:
        self._reader.stop()
        self._server.stop()


def compare(rounds: int, seconds: float) -> None:
    """Measures all sides in turns and prints a table in Markdown."""
    sides = {name: Side(name) for name in SIDES}
    found: dict[tuple[str, str], list[float]] = {(side, kind): [] for side in sides for kind in SIZES}
    try:
        for _ in range(rounds):
            for kind, size in SIZES.items():
                for name, side in sides.items():
                    found[name, kind].append(side.measure(size, seconds))
    finally:
        for side in sides.values():
            side.stop()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, medians of {rounds} runs of {seconds:g} s\n")
    print("| element | tfsvc, elements/s (MB/s) | ratio | over gRPC alone | ratio | TensorFlow 2.21 |")
    print("|---|---|---|---|---|---|")
    for kind, size in SIZES.items():
        shared, network, theirs = (found[name, kind] for name in SIDES)
        print(
            f"| {kind} | {_rate(shared, size)} | {_ratio(shared, theirs)} | {_rate(network, size)} | "
            f"{_ratio(network, theirs)} | {_rate(theirs, size)} |"
        )


def _rate(rates: list[float], size: int) -> str:
    rate = statistics.median(rates)
    return f"{rate:,.0f} ({rate * size / 1e6:,.0f})"


def _ratio(ours: list[float], theirs: list[float]) -> str:
    return f"{statistics.median(a / b for a, b in zip(ours, theirs, strict=True)):.1f}"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--serve", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--read", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--target", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
    elif options.read:
        read(options.read, options.target)
    else:
        compare(options.rounds, options.seconds)


if __name__ == "__main__":
    main()
