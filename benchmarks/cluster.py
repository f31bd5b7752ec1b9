"""``Session.run`` on a cluster of a parameter server and a worker, beside TensorFlow's own servers and sessions.

    python -m benchmarks.cluster [--rounds 5] [--seconds 2]

Three pairs run the same graph, built through the same functions: sessions of ours on our servers, TensorFlow's
sessions on our servers, and TensorFlow's on its own. Each server and each client is a process of its own on this
machine. The pairs are measured in turns; the table shows medians.
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
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from benchmarks.sides import Child, load

PAIRS: Final = (("tfsvc", "tfsvc"), ("TensorFlow", "tfsvc"), ("TensorFlow", "TensorFlow"))
"""Whose session, on whose servers."""
KINDS: Final = {
    "add": "one task: feed a number, fetch a sum",
    "array": "one task: feed and fetch 1 MiB float32",
    "step": "two tasks: a step of gradient descent",
}
PS: Final = "/job:ps/task:0"
WORKER: Final = "/job:worker/task:0"


def serve(side: str, cluster: str, job: str) -> None:
    """A process with a server; ends with its input."""
    server = load(side).distribute.Server(json.loads(cluster), job, 0)
    print(server.target, flush=True)
    sys.stdin.read()
    os._exit(0)


def steps(v1: Any, float32: Any, session: Any) -> dict[str, Callable[[], Any]]:
    """Each kind of step as a function without arguments; the graph is the session's."""
    number, array = v1.placeholder(float32, []), v1.placeholder(float32, [None])
    total, doubled = number + 1.0, array + array
    with v1.device(PS):
        weights = v1.get_variable("weights", initializer=np.zeros((10, 1), np.float32))
    with v1.device(WORKER):
        x, y = v1.placeholder(float32, [None, 10]), v1.placeholder(float32, [None, 1])
        error = v1.matmul(x, weights) - y
        loss = v1.reduce_mean(v1.square(error))
        gradient = v1.matmul(x, error, transpose_a=True) * np.float32(0.01)
    with v1.device(PS):
        update = v1.assign_sub(weights, gradient)
    session.run(v1.global_variables_initializer())
    rng = np.random.default_rng(0)
    million, rows = rng.random(1 << 18, np.float32), rng.random((32, 10), np.float32)
    feeds = {x: rows, y: rows.sum(1, keepdims=True)}
    return {
        "add": lambda: session.run(total, {number: 1.0}),
        "array": lambda: session.run(doubled, {array: million}),
        "step": lambda: session.run([loss, update], feeds),
    }


def call(side: str, target: str) -> None:
    """A process with a session; measures what each line of its input asks for, and prints the median and the rate."""
    tf = load(side)
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session(target) as session:
        runs = steps(v1, tf.float32, session)
        print("ready", flush=True)
        for line in sys.stdin:
            kind, seconds = json.loads(line)
            taken: list[float] = []
            runs[kind]()
            started = time.perf_counter()
            while time.perf_counter() < started + seconds:
                since = time.perf_counter()
                runs[kind]()
                taken.append(time.perf_counter() - since)
            print(json.dumps([statistics.median(taken), len(taken) / (time.perf_counter() - started)]), flush=True)


class Pair:
    """A client process and the two server processes of its cluster."""

    def __init__(self, client: str, server: str) -> None:
        with socket.socket() as one, socket.socket() as other:
            one.bind(("localhost", 0))
            other.bind(("localhost", 0))
            ports = one.getsockname()[1], other.getsockname()[1]
        cluster = json.dumps({job: [f"localhost:{port}"] for job, port in zip(("ps", "worker"), ports, strict=True)})
        self._servers = [
            Child("benchmarks.cluster", "--serve", server, "--cluster", cluster, "--job", job)
            for job in ("ps", "worker")
        ]
        target = [process.line() for process in self._servers][1]
        self._client = Child("benchmarks.cluster", "--call", client, "--target", target)
        self._client.line()

    def measure(self, kind: str, seconds: float) -> tuple[float, float]:
        """The median latency in seconds, and steps a second."""
        latency, rate = self._client.ask(kind, seconds)
        return latency, rate

    def stop(self) -> None:
        for process in (self._client, *self._servers):
            process.stop()


def compare(rounds: int, seconds: float) -> None:
    """Measures all pairs in turns and prints a table in Markdown."""
    pairs = {names: Pair(*names) for names in PAIRS}
    found: dict[tuple[Any, str], list[tuple[float, float]]] = {(pair, kind): [] for pair in PAIRS for kind in KINDS}
    try:
        for _ in range(rounds):
            for kind in KINDS:
                for names, pair in pairs.items():
                    found[names, kind].append(pair.measure(kind, seconds))
    finally:
        for pair in pairs.values():
            pair.stop()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, medians of {rounds} runs of {seconds:g} s\n")
    print("| step | " + " | ".join(f"{client} on {server}, steps/s (ms)" for client, server in PAIRS) + " |")
    print("|---|---|---|---|")
    for kind, what in KINDS.items():
        cells = []
        for names in PAIRS:
            latency, rate = (statistics.median(column) for column in zip(*found[names, kind], strict=True))
            cells.append(f"{rate:,.0f} ({latency * 1e3:.2f})")
        print(f"| {what} | {' | '.join(cells)} |")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    for hidden in ("--serve", "--call", "--cluster", "--job", "--target"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.cluster, options.job)
    elif options.call:
        call(options.call, options.target)
    else:
        compare(options.rounds, options.seconds)


if __name__ == "__main__":
    main()
