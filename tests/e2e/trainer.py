"""A trainer in a process of its own, which may be killed: it writes down what it got, and where to go on."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import tfsvc as tf

EVERY = 25
"""Elements between two checkpoints."""


def train(target: str, dataset_id: str, job_name: str, folder: Path) -> None:
    """Reads the job in its order; what was read since the last checkpoint is read again after a kill."""
    service = tf.data.experimental.service
    dataset = service.from_dataset_id("distributed_epoch", target, dataset_id, job_name=job_name, deterministic=True)
    iterator = iter(dataset)
    checkpoint = folder / "checkpoint"
    got: list[int] = []
    if checkpoint.exists():
        saved = json.loads(checkpoint.read_text())
        got = saved["got"]
        iterator.load_state_dict(saved["state"])
    for element in iterator:
        got.append(int(element))
        if len(got) % EVERY == 0:
            _write(checkpoint, {"got": got, "state": iterator.state_dict()})
    _write(folder / "result", got)


def _write(path: Path, what: object) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(what))
    os.replace(fresh, path)


if __name__ == "__main__":
    train(*sys.argv[1:4], Path(sys.argv[4]))
