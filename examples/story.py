"""What the examples of trainers share: a data service of processes, and how two runs are compared."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import tfsvc as tf

SAMPLES, BATCH, EPOCHS, CHECKPOINT_EVERY = 400, 16, 2, 5

service = tf.data.experimental.service


@contextmanager
def cluster(workers: int = 2) -> Iterator[str]:
    """A dispatcher, and workers in processes of their own; gives the dispatcher's target."""
    with service.DispatchServer() as dispatcher:
        processes = service.LocalProcesses(dispatcher.target, drain=1)
        processes.scale(workers)
        try:
            yield dispatcher.target
        finally:
            processes.close()


def sample(i: Any) -> dict[str, Any]:
    """Features and target number ``i``."""
    features = np.array([1.0, np.sin(i), np.cos(i)], np.float32)
    return {"number": i, "x": features, "y": np.float32(features @ [0.5, -2.0, 3.0])}


def batches(target: str, consumer: tf.trainers.Consumer | None = None) -> tf.data.Dataset:
    """The training data in a fixed order; each process of a trainer has its own part, and equally much."""
    me = consumer or tf.trainers.Consumer(0, 1)
    read = service.distribute(
        "distributed_epoch",
        target,
        job_name="train",
        deterministic=True,
        seed=1,
        consumer_index=me.index,
        num_consumers=me.count,
        remainder="drop",
    )
    return tf.data.Dataset.range(SAMPLES).shuffle(64).map(sample).apply(read).batch(BATCH)


class Log:
    """The numbers of the samples of each step, of which a step that is done again replaces what it did before."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "steps"

    def write(self, step: int, numbers: list[int]) -> None:
        with self._path.open("a") as file:
            print(json.dumps([step, numbers]), file=file)

    def read(self) -> dict[int, list[int]]:
        return dict(json.loads(line) for line in self._path.read_text().splitlines())


def compare(train: Callable[[str, Path, int, int], Any], workers: int = 0) -> int:
    """Trains once in one run, and once in two; the exit code is 1 if they differ.

    Args:
      train: trains on the service at an address, with its checkpoints in a folder, up to a number of steps (-1 for all
        there are), with so many worker processes of the loader; gives the weights.
    """
    with tempfile.TemporaryDirectory() as folder, cluster() as target:
        calm, broken = Path(folder, "calm"), Path(folder, "broken")
        calm.mkdir()
        broken.mkdir()
        weights = train(target, calm, -1, workers)
        train(target, broken, CHECKPOINT_EVERY * 3 + 2, workers)
        resumed = train(target, broken, -1, workers)
        same = Log(calm).read() == Log(broken).read() and weights.tolist() == resumed.tolist()
        print(f"{len(Log(broken).read())} steps, in two runs: {'the same' if same else 'NOT the same'} as in one")
    return 0 if same else 1
