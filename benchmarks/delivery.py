"""What exactly-once and a fixed order cost, against delivery at most once.

    python -m benchmarks.delivery [--rounds 5] [--workers 2]

Dispatcher, workers and reader are processes of their own. Each kind of element is read to its end, dynamically sharded,
with each promise in turns; the table shows medians of elements a second, and of the ratios within rounds their median
and spread. In the last kind every third group of thirty elements is ten times as slow, so that lanes differ.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import tfsvc as tf
from benchmarks.sides import machine, ratio

service = tf.data.experimental.service

WORK_S: Final = 0.001

PROMISES: Final[dict[str, dict[str, Any]]] = {
    "at most once": {"delivery": "at_most_once"},
    "exactly once": {},
    "exactly once in a fixed order": {"deterministic": True},
}


@dataclass(frozen=True)
class Kind:
    """Elements, and what the reader does with them.

    Attributes:
      batch: how many the reader makes one batch of; 0 for single elements.
    """

    make: Callable[[], Any]
    batch: int = 0

    def read(self, target: str, promise: dict[str, Any]) -> float:
        """Elements a second to the end of the data."""
        dataset = self.make().apply(service.distribute("distributed_epoch", target, **promise))
        if self.batch:
            dataset = dataset.batch(self.batch)
        began = time.perf_counter()
        count = sum(len(batch) for batch in dataset) if self.batch else sum(1 for _ in dataset)
        return count / (time.perf_counter() - began)


def numbers() -> Any:
    """Cheap and small."""
    return tf.data.Dataset.range(10_000_000)


def images() -> Any:
    """Cheap and large: 256 KiB each."""
    image = np.zeros(64 << 10, np.float32)
    return tf.data.Dataset.range(6_000).map(lambda i: image)


def work() -> Any:
    """A millisecond each."""
    return tf.data.Dataset.range(2_000).map(_work)


def uneven() -> Any:
    """A millisecond each, and ten in every third group of thirty."""
    return tf.data.Dataset.range(2_000).map(_work_or_more)


def _work(value: Any) -> Any:
    time.sleep(WORK_S)
    return value


def _work_or_more(value: Any) -> Any:
    time.sleep(WORK_S * (10 if (int(value) // 30) % 3 == 0 else 1))
    return value


KINDS: Final = {
    "int64 scalars": Kind(numbers),
    "int64 scalars, `batch(1024)` in the reader": Kind(numbers, batch=1024),
    "256 KiB float32": Kind(images),
    "1 ms of work": Kind(work),
    "1 ms, some 10 ms": Kind(uneven),
}


def row(kind: str, found: dict[str, list[float]]) -> str:
    """A line of the table."""
    base, *others = PROMISES
    cells = [kind, f"{statistics.median(found[base]):,.0f}"]
    for name in others:
        cells += [f"{statistics.median(found[name]):,.0f}", ratio(found[name], found[base])]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    dispatcher = service.DispatchServer(service.DispatcherConfig(own_process=True))
    processes = service.LocalProcesses(dispatcher.target)
    processes.scale(options.workers)
    while len(service.describe(dispatcher.target).workers) < options.workers:
        time.sleep(0.1)
    print(f"{machine()} at the start; {options.workers} workers, medians of {options.rounds} runs\n")
    base, *others = PROMISES
    heads = ["element", f"{base}, elements/s", *(head for name in others for head in (name, "ratio"))]
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|", flush=True)
    for name, kind in KINDS.items():
        found: dict[str, list[float]] = {promise: [] for promise in PROMISES}
        for _ in range(options.rounds):
            for promise, arguments in PROMISES.items():
                found[promise].append(kind.read(dispatcher.target, arguments))
        print(row(name, found), flush=True)
    print(f"\n{machine()} at the end")
    processes.scale(0)


if __name__ == "__main__":
    main()
