"""What a fixed order costs: the same dataset with and without ``deterministic``, on several workers.

    python -m benchmarks.order [--rounds 5] [--workers 3]

Each kind of element is read to its end in turns; the table shows medians. In the last kind
every third group of thirty elements is ten times as slow, so that lanes differ.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

import tfsvc as tf
from tfsvc.data.experimental import service

WORK_S: Final = 0.001


def numbers() -> Any:
    """Cheap and small."""
    return tf.data.Dataset.range(1_000_000)


def images() -> Any:
    """Cheap and large: 256 KiB each."""
    image = np.zeros(64 << 10, np.float32)
    return tf.data.Dataset.range(2_000).map(lambda i: image)


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


KINDS: Final[dict[str, Callable[[], Any]]] = {
    "int64 scalars": numbers,
    "256 KiB float32": images,
    "1 ms of work": work,
    "1 ms, some 10 ms": uneven,
}


def measure(dataset: Any, target: str, deterministic: bool) -> float:
    """Elements a second to the end of the data."""
    read = dataset.apply(service.distribute("distributed_epoch", target, deterministic=deterministic))
    began = time.perf_counter()
    count = sum(1 for _ in read)
    return count / (time.perf_counter() - began)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=3)
    options = parser.parse_args()
    dispatcher = service.DispatchServer()
    config = service.WorkerConfig(dispatcher_address=dispatcher.target)
    workers = [service.WorkerServer(config) for _ in range(options.workers)]
    print(f"{os.cpu_count()} cores, {len(workers)} workers in the reader's process, medians of {options.rounds} runs\n")
    print("| element | any order, elements/s | fixed order, elements/s | ratio |")
    print("|---|---|---|---|")
    for kind, make in KINDS.items():
        found: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(options.rounds):
            for deterministic in found:
                found[deterministic].append(measure(make(), dispatcher.target, deterministic))
        free, fixed = (statistics.median(found[deterministic]) for deterministic in (False, True))
        print(f"| {kind} | {free:,.0f} | {fixed:,.0f} | {fixed / free:.2f} |", flush=True)


if __name__ == "__main__":
    main()
