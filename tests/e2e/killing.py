"""Worker processes that are killed, paused and started again at random moments, while readers read.

``python -m tests.e2e.killing --rounds 100`` plays so many rounds; what a round does is a function of its seed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tfsvc as tf

service = tf.data.experimental.service
Dataset = tf.data.Dataset

WORKERS = 3
COUNT = 900
ROUND_S_MAX = 40.0
"""A round reads for two seconds; the longest pause is noticed after five, and several may follow each other."""


def _slow(value: Any) -> Any:
    time.sleep(0.003)
    return value


def _mapped(files: list[str]) -> Any:
    return Dataset.range(COUNT).map(_slow)


def _lines(files: list[str]) -> Any:
    return Dataset.from_tensor_slices(files).flat_map(tf.data.TextLineDataset).map(_slow).map(np.int64)


def _batched(files: list[str]) -> Any:
    return Dataset.range(COUNT).map(_slow).batch(7).unbatch()


def _shuffled(files: list[str]) -> Any:
    return Dataset.range(COUNT).shuffle(100, seed=1).map(_slow)


PIPELINES: tuple[Callable[[list[str]], Any], ...] = (_mapped, _lines, _batched, _shuffled)


class Fleet:
    """A dispatcher of this process and worker processes, each at a port of its own.

    Args:
      directory: where the input files are written.
    """

    def __init__(self, directory: Path) -> None:
        self.dispatcher = service.DispatchServer()
        self.files = []
        for number in range(30):
            path = directory / f"{number}.txt"
            path.write_text("".join(f"{value}\n" for value in range(number, COUNT, 30)))
            self.files.append(str(path))
        self._ports = [_free_port() for _ in range(WORKERS)]
        self.processes = [self._start(port) for port in self._ports]

    def wait(self) -> None:
        """Until all workers have registered."""
        give_up = time.monotonic() + 30
        while self.dispatcher.num_workers() < WORKERS:
            assert time.monotonic() < give_up, "the workers did not register"
            time.sleep(0.05)

    def restart(self, number: int, how: signal.Signals) -> None:
        """Ends a worker by a signal and starts another one at its port."""
        self.processes[number].send_signal(how)
        self.processes[number].wait(10)
        self.processes[number] = self._start(self._ports[number])

    def pause(self, number: int, seconds: float) -> None:
        """Stops a worker's process for a while."""
        self.processes[number].send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.processes[number].send_signal(signal.SIGCONT)

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        self.dispatcher.stop()

    def _start(self, port: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tfsvc"]
        return subprocess.Popen(
            [*command, "worker", self.dispatcher.target, "--port", str(port)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdout=subprocess.DEVNULL,
        )


@contextmanager
def fleet() -> Iterator[Fleet]:
    with tempfile.TemporaryDirectory() as directory:
        made = Fleet(Path(directory))
        try:
            yield made
        finally:
            made.close()


@dataclass(frozen=True)
class Outcome:
    """What a round did, how long it took, and what went wrong: nothing, if all is well."""

    story: str
    seconds: float
    problem: str


def play(fleet: Fleet, seed: int) -> Outcome:
    """One round: some readers share a job while workers come to harm."""
    luck = random.Random(seed)
    pipeline, readers, harms = luck.choice(PIPELINES), luck.randint(1, 3), luck.randint(1, 4)
    fleet.wait()
    target = fleet.dispatcher.target
    dataset_id = service.register_dataset(target, pipeline(fleet.files))
    got: list[list[int]] = [[] for _ in range(readers)]
    errors: list[str] = []

    def read(taken: list[int]) -> None:
        try:
            # One dataset a reader: two iterators of one would be two passes.
            dataset = service.from_dataset_id("distributed_epoch", target, dataset_id, job_name="round")
            taken.extend(int(element) for element in dataset)
        except Exception as error:
            errors.append(repr(error))

    started = time.monotonic()
    threads = [threading.Thread(target=read, args=(taken,), daemon=True) for taken in got]
    for thread in threads:
        thread.start()
    story = [f"{pipeline.__name__.strip('_')}, {readers} readers"]
    for _ in range(harms):
        time.sleep(luck.uniform(0, 0.6))
        number = luck.randrange(WORKERS)
        what = luck.choice(("kill", "kill", "end", "pause"))
        story.append(f"{what} {number}")
        if what == "pause":
            # Six seconds are enough to be taken for dead and to wake up behind another attempt.
            fleet.pause(number, luck.choice((0.2, 0.2, 1.0, 6.0)))
        else:
            fleet.restart(number, signal.SIGKILL if what == "kill" else signal.SIGTERM)
    for thread in threads:
        thread.join(max(0.0, started + ROUND_S_MAX - time.monotonic()))
    stuck = sum(thread.is_alive() for thread in threads)
    problems = [*errors, f"{stuck} readers still waited"] if stuck else errors
    if not problems:
        counts = Counter(value for taken in got for value in taken)
        lost = [value for value in range(COUNT) if not counts[value]]
        repeated = [value for value, times in counts.items() if times > 1]
        found = (("lost", lost), ("repeated", repeated))
        problems = [f"{len(values)} {what}: {values[:5]}" for what, values in found if values]
    return Outcome("; ".join(story), time.monotonic() - started, "; ".join(problems))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return int(found.getsockname()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100, help="how many rounds to play")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first one")
    asked = parser.parse_args()
    failed = 0
    with fleet() as made:
        for seed in range(asked.seed, asked.seed + asked.rounds):
            outcome = play(made, seed)
            failed += bool(outcome.problem)
            print(f"{seed}: {outcome.seconds:.1f} s  {outcome.story}  {outcome.problem or 'exactly once'}", flush=True)
    print(f"{failed} of {asked.rounds} rounds failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
