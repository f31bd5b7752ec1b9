"""Remote calls from one process to another, beside TensorFlow's own RPC client and server.

    python -m benchmarks.rpc [--rounds 5] [--seconds 2]

Both sides register the same functions and call them through the same API, one client process to one server process on
this machine. A row measures either one call after the other, or 16 in flight. The two sides are measured in turns; the
table shows medians.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import socket
import statistics
import sys
import time
from collections import deque
from typing import Any, Final

import numpy as np

from benchmarks.sides import MODULES, Child, load

KINDS: Final = {
    "add two int32 scalars, one at a time": ("add", 1),
    "add two int32 scalars, 16 in flight": ("add", 16),
    "echo 1 MiB float32, one at a time": ("echo", 1),
    "echo 1 MiB float32, 16 in flight": ("echo", 16),
}


def serve(side: str, address: str) -> None:
    """A process with a server; ends with its input."""
    tf = load(side)
    scalar = tf.TensorSpec([], tf.int32)
    server = tf.distribute.experimental.rpc.Server.create("grpc", address)
    server.register("add", tf.function(lambda a, b: tf.add(a, b), input_signature=[scalar, scalar]))
    server.register("echo", tf.function(lambda a: tf.add(a, a), input_signature=[tf.TensorSpec([None], tf.float32)]))
    server.start()
    print("ready", flush=True)
    sys.stdin.read()
    os._exit(0)


def call(side: str, address: str) -> None:
    """A process with a client; measures what each line of its input asks for, and prints the median and the rate."""
    tf = load(side)
    client = tf.distribute.experimental.rpc.Client.create("grpc", address, timeout_in_ms=60_000)
    numbers = tf.constant(2), tf.constant(3)
    array = (tf.constant(np.random.default_rng(0).random(1 << 18, np.float32)),)
    print("ready", flush=True)
    for line in sys.stdin:
        method, in_flight, seconds = json.loads(line)
        begin, args = getattr(client, method), numbers if method == "add" else array
        waiting: deque[tuple[float, Any]] = deque()
        taken: list[float] = []
        started = time.perf_counter()
        until = started + seconds
        while time.perf_counter() < until:
            while len(waiting) < in_flight:
                waiting.append((time.perf_counter(), begin(*args)))
            since, result = waiting.popleft()
            result.get_value()
            taken.append(time.perf_counter() - since)
        rate = len(taken) / (time.perf_counter() - started)
        for _, result in waiting:
            result.get_value()
        print(json.dumps([statistics.median(taken), rate]), flush=True)


class Side:
    """The processes of one side."""

    def __init__(self, name: str) -> None:
        with socket.socket() as free:
            free.bind(("localhost", 0))
            address = f"localhost:{free.getsockname()[1]}"
        self._server = Child("benchmarks.rpc", "--serve", name, "--address", address)
        self._server.line()
        self._client = Child("benchmarks.rpc", "--call", name, "--address", address)
        self._client.line()

    def measure(self, method: str, in_flight: int, seconds: float) -> tuple[float, float]:
        """The median latency in seconds, and calls a second."""
        latency, rate = self._client.ask(method, in_flight, seconds)
        return latency, rate

    def stop(self) -> None:
        self._client.stop()
        self._server.stop()


def compare(rounds: int, seconds: float) -> None:
    """Measures both sides in turns and prints a table in Markdown."""
    sides = {name: Side(name) for name in MODULES}
    found: dict[tuple[str, str], list[tuple[float, float]]] = {(side, kind): [] for side in sides for kind in KINDS}
    try:
        for _ in range(rounds):
            for kind, (method, in_flight) in KINDS.items():
                for name, side in sides.items():
                    found[name, kind].append(side.measure(method, in_flight, seconds))
    finally:
        for side in sides.values():
            side.stop()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, medians of {rounds} runs of {seconds:g} s\n")
    print("| call | tfsvc, calls/s (ms a call) | TensorFlow 2.21, calls/s (ms a call) | ratio of calls/s |")
    print("|---|---|---|---|")
    for kind in KINDS:
        cells = []
        for name in MODULES:
            latency, rate = (statistics.median(column) for column in zip(*found[name, kind], strict=True))
            cells.append(f"{rate:,.0f} ({latency * 1e3:.2f})")
        pairs = zip(found["tfsvc", kind], found["TensorFlow", kind], strict=True)
        ratio = statistics.median(ours[1] / theirs[1] for ours, theirs in pairs)
        print(f"| {kind} | {cells[0]} | {cells[1]} | {ratio:.2f} |")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--serve", choices=MODULES, help=argparse.SUPPRESS)
    parser.add_argument("--call", choices=MODULES, help=argparse.SUPPRESS)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.address)
    elif options.call:
        call(options.call, options.address)
    else:
        compare(options.rounds, options.seconds)


if __name__ == "__main__":
    main()
