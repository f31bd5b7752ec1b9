"""A trainer is killed in the middle of an epoch, and goes on with another number of workers: does it see other batches?

    python -m scenarios.resume_training            two workers, a kill, then three workers
    python -m scenarios.resume_training --seed 7   another moment of the kill

Expected: the batches of the killed trainer up to its last checkpoint, and those of the resumed one, are those of a
trainer that nobody killed, and so are the weights. The exit code is 1 if they are not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import tfsvc as tf
from tfsvc.data.experimental import service

EXAMPLES, BATCH, EPOCHS, CHECKPOINT_EVERY = 2000, 32, 2, 5
LEARNING_RATE = 0.05


def example(i: Any) -> tuple[Any, Any]:
    """Features and target of one example."""
    features = np.array([1.0, np.sin(i), np.cos(i)])
    return features, features @ np.array([0.5, -2.0, 3.0])


def batches(target: str) -> Any:
    """The training data, read from the service in a fixed order."""
    dataset = tf.data.Dataset.range(EXAMPLES).shuffle(64).map(example)
    dataset = dataset.apply(service.distribute(service.ShardingPolicy.DYNAMIC, target, deterministic=True, seed=1))
    return dataset.batch(BATCH)


def train(target: str, checkpoint: Path, log: Path, pause: float) -> None:
    """A training loop that goes on from its checkpoint, if there is one, and logs the targets of every batch."""
    weights, step, epoch, state = np.zeros(3), 0, 0, None
    if checkpoint.exists():
        saved = json.loads(checkpoint.read_text())
        weights, step, epoch, state = np.array(saved["weights"]), saved["step"], saved["epoch"], saved["data"]
    data = batches(target)
    with log.open("a") as lines:
        while epoch < EPOCHS:
            iterator = iter(data)
            if state is not None:
                iterator.load_state_dict(state)
                state = None
            for features, targets in iterator:
                weights = weights - LEARNING_RATE * features.T @ (features @ weights - targets) / len(targets)
                step += 1
                print(json.dumps([step, targets.tolist()]), file=lines, flush=True)
                if step % CHECKPOINT_EVERY == 0:
                    save(checkpoint, weights, step, epoch, iterator.state_dict())
                time.sleep(pause)
            epoch += 1
    save(checkpoint, weights, step, epoch, None)


def save(checkpoint: Path, weights: Any, step: int, epoch: int, data: dict[str, Any] | None) -> None:
    """Writes all of it or nothing."""
    fresh = checkpoint.with_suffix(".new")
    fresh.write_text(json.dumps({"weights": weights.tolist(), "step": step, "epoch": epoch, "data": data}))
    os.replace(fresh, checkpoint)


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """A data service of so many workers; gives the dispatcher's target."""
    dispatcher = service.DispatchServer()
    config = service.WorkerConfig(dispatcher_address=dispatcher.target)
    running = [service.WorkerServer(config) for _ in range(workers)]
    try:
        yield dispatcher.target
    finally:
        for server in (*running, dispatcher):
            server.stop()


def run(target: str, folder: Path, pause: float = 0.0) -> subprocess.Popen[bytes]:
    """A trainer in a process of its own."""
    command = [sys.executable, "-m", "scenarios.resume_training", "--train", target, str(folder), str(pause)]
    return subprocess.Popen(command)


def read(folder: Path) -> tuple[dict[int, list[float]], list[float]]:
    """The last batch logged for each step, and the final weights."""
    logged = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    return dict(logged), json.loads((folder / "checkpoint").read_text())["weights"]


def story(seed: int, folder: Path) -> bool:
    """Tells the story; whether the sequences are the same."""
    calm, killed = folder / "calm", folder / "killed"
    calm.mkdir()
    killed.mkdir()
    with cluster(1) as target:
        assert run(target, calm).wait() == 0
    with cluster(2) as target:
        trainer = run(target, killed, pause=0.02)
        after = random.Random(seed).randrange(10, 100)
        while not (killed / "log").exists() or len((killed / "log").read_text().splitlines()) < after:
            time.sleep(0.01)
        trainer.send_signal(signal.SIGKILL)
        trainer.wait()
    steps = len((killed / "log").read_text().splitlines())
    token = json.loads((killed / "checkpoint").read_text())
    print(
        f"killed behind step {steps}; its checkpoint is of step {token['step']}, {len(json.dumps(token['data']))} bytes"
    )
    with cluster(3) as target:
        assert run(target, killed).wait() == 0
    (expected, weights), (got, resumed) = read(calm), read(killed)
    same = got == expected and resumed == weights
    verdict = "the same" if same else "NOT the same"
    print(f"{len(expected)} steps on one worker, {len(got)} on two and then three: {verdict}")
    return same


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m scenarios.resume_training", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="of the moment of the kill")
    parser.add_argument("--train", nargs=3, metavar=("TARGET", "FOLDER", "PAUSE"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.train:
        target, where, pause = options.train
        train(target, Path(where) / "checkpoint", Path(where) / "log", float(pause))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return 0 if story(options.seed, Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
