"""Memory over many epochs and many iterators: what a process holds must not grow.

    python -m benchmarks.memory [--epochs 10] [--iterators 1000]

Prints resident memory and the number of objects that the garbage collector knows of after each part; ends with 1
where they have grown.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from tfsvc.data import Dataset
from tfsvc.data.experimental import service, vectorized

PAGE: Final = os.sysconf("SC_PAGESIZE")
BYTES_MORE: Final = 8 << 20
"""Growth of the resident memory that may come from how the allocator cuts pages."""
OBJECTS_MORE: Final = 200
"""Growth of the number of objects that may come from caches of the interpreter."""
OBJECTS_OF_A_JOB: Final = 5
"""What a dispatcher remembers of each job, so that its name does not come to mean another one."""


@dataclass(frozen=True)
class Use:
    """What this process holds after a garbage collection."""

    bytes: int
    objects: int

    @staticmethod
    def now() -> Use:
        gc.collect()
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
        return Use(resident, len(gc.get_objects()))


def mixed(size: int) -> Dataset:
    """A pipeline of many kinds of operators."""
    numbers = Dataset.range(size).shuffle(size // 4).map(vectorized(lambda x: x * 2)).map(lambda x: (x, np.full(64, x)))
    files = Dataset.range(16).interleave(lambda x: Dataset.range(size // 32).shuffle(50), cycle_length=4)
    pairs = Dataset.zip(numbers, files.enumerate().repeat())
    return pairs.filter(lambda a, b: a[0] % 3 != 0).batch(7).unbatch().padded_batch(16).prefetch(2)


def epoch(dataset: Dataset) -> None:
    """One whole pass."""
    for _ in dataset:
        pass


def abandoned(dataset: Dataset, number: int) -> None:
    """An iterator that is left after a few elements."""
    for _ in itertools.islice(dataset, number % 50):
        pass


def grows(what: str, count: int, act: Callable[[int], None], objects_kept: int = 0) -> bool:
    """Whether memory grows over ``count`` acts, of which the first fifth may warm up; says what it found.

    Each act may leave ``objects_kept`` objects.
    """
    for number in range(count // 5):
        act(number)
    before = Use.now()
    for number in range(count // 5, count):
        act(number)
    after = Use.now()
    more = Use(after.bytes - before.bytes, after.objects - before.objects)
    print(f"{what}: {after.bytes / 1e6:.1f} MB ({more.bytes / 1e6:+.1f}), {after.objects} objects ({more.objects:+d})")
    return more.bytes > BYTES_MORE or more.objects > OBJECTS_MORE + count * objects_kept


def soak(epochs: int, iterators: int, jobs: int, size: int = 20_000) -> bool:
    """Whether any of the parts grows."""
    dataset = mixed(size)
    small = mixed(500)
    found = [
        grows(f"{epochs} epochs of a mixed pipeline", epochs, lambda number: epoch(dataset)),
        grows(f"{iterators} iterators left half-way", iterators, lambda number: abandoned(small, number)),
        grows(f"{iterators} datasets made anew", iterators, lambda number: abandoned(mixed(500), number)),
    ]
    if jobs:
        found.append(grows_in_service(jobs))
    return any(found)


def grows_in_service(jobs: int) -> bool:
    """Whether jobs of a data service in this process leave something behind, also those that are left half-way."""
    dispatcher = service.DispatchServer()
    worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher.target.split("://")[1]))
    distributed = mixed(500).apply(service.distribute(service.ShardingPolicy.OFF, dispatcher.target))

    def act(number: int) -> None:
        if number % 2:
            abandoned(distributed, number)
        else:
            epoch(distributed)

    grown = grows(f"{jobs} jobs of a data service", jobs, act, OBJECTS_OF_A_JOB)
    del worker
    return grown


def main() -> Any:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--iterators", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=100)
    options = parser.parse_args()
    return soak(options.epochs, options.iterators, options.jobs)


if __name__ == "__main__":
    sys.exit(main())
