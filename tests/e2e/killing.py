"""Workers, dispatcher and trainers that are killed, paused and started again at random moments, while data is read.

``python -m tests.e2e.killing --rounds 200`` plays so many rounds; what a round does is a function of its seed. In every
other round readers share a job and each element must come once; in the others a trainer reads in a fixed order, is
killed too, goes on from its checkpoint, and must see the sequence of a trainer that nobody killed.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tfsvc as tf
from tests.e2e.fleet import COUNT, WORKERS, Fleet, fleet, start
from tfsvc.execution.blocks import block_of
from tfsvc.execution.program import define
from tfsvc.protocol.messages import OrderDef
from tfsvc_sim.judging.sequence import sequence

service = tf.data.experimental.service
Dataset = tf.data.Dataset

LANES = 16
ROUND_S_MAX = 60.0
"""A round reads for some seconds; the longest pause is noticed after five, and several may follow each other."""


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


@dataclass(frozen=True)
class Outcome:
    """What a round did, how long it took, and what went wrong: nothing, if all is well."""

    story: str
    seconds: float
    problem: str


def play(fleet: Fleet, seed: int) -> Outcome:
    """One round."""
    luck = random.Random(seed)
    pipeline = luck.choice(PIPELINES)
    fleet.wait()
    started = time.monotonic()
    story, problem = (_share if seed % 2 else _resume)(fleet, pipeline(fleet.files), luck, seed)
    return Outcome(f"{pipeline.__name__.strip('_')}, {story}", time.monotonic() - started, problem)


def _share(fleet: Fleet, dataset: Any, luck: random.Random, seed: int) -> tuple[str, str]:
    """Some readers share a job."""
    dataset_id = service.register_dataset(fleet.target, dataset)
    got: list[list[int]] = [[] for _ in range(luck.randint(1, 3))]
    errors: list[str] = []

    def read(taken: list[int]) -> None:
        try:
            # One dataset a reader: two iterators of one would be two passes.
            mine = service.from_dataset_id("distributed_epoch", fleet.target, dataset_id, job_name=f"round {seed}")
            taken.extend(int(element) for element in mine)
        except Exception as error:
            errors.append(repr(error))

    threads = [threading.Thread(target=read, args=(taken,), daemon=True) for taken in got]
    for thread in threads:
        thread.start()
    told = [f"{len(got)} readers"]
    for _ in range(luck.randint(1, 4)):
        time.sleep(luck.uniform(0, 0.6))
        told.append(_harm(fleet, luck))
    give_up = time.monotonic() + ROUND_S_MAX
    for thread in threads:
        thread.join(max(0.0, give_up - time.monotonic()))
    stuck = sum(thread.is_alive() for thread in threads)
    problems = [*errors, f"{stuck} readers still waited"] if stuck else errors
    if not problems:
        counts = Counter(value for taken in got for value in taken)
        lost = [value for value in range(COUNT) if not counts[value]]
        repeated = [value for value, times in counts.items() if times > 1]
        found = (("lost", lost), ("repeated", repeated))
        problems = [f"{len(values)} {what}: {values[:5]}" for what, values in found if values]
    return "; ".join(told), "; ".join(problems)


def _resume(fleet: Fleet, dataset: Any, luck: random.Random, seed: int) -> tuple[str, str]:
    """A trainer reads in a fixed order, and is killed as well."""
    definition = define(dataset.operator)
    order = OrderDef(LANES, block_of(dataset.operator, dataset.element_spec))
    expected = [value for values in sequence(definition, order)[0] for value in values]
    dataset_id = service.register_dataset(fleet.target, dataset)
    told = ["a trainer"]
    with tempfile.TemporaryDirectory() as folder:
        command = ("-m", "tests.e2e.trainer", fleet.target, dataset_id, f"round {seed}", folder)
        trainer = start(*command)
        for _ in range(luck.randint(1, 4)):
            time.sleep(luck.uniform(0.3, 1.5))
            if luck.randrange(2):
                trainer.send_signal(signal.SIGKILL)
                trainer.wait()
                trainer = start(*command)
                told.append("kill the trainer")
            else:
                told.append(_harm(fleet, luck))
        try:
            if trainer.wait(ROUND_S_MAX):
                return "; ".join(told), f"the trainer ended with {trainer.returncode}"
        finally:
            trainer.kill()
            trainer.wait()
        got = json.loads((Path(folder) / "result").read_text())
    at = next((i for i, (one, other) in enumerate(zip(expected, got, strict=False)) if one != other), None)
    if at is not None:
        return "; ".join(told), f"element {at} is {got[at]}, not {expected[at]}"
    return "; ".join(told), "" if len(got) == len(expected) else f"{len(got)} elements, not {len(expected)}"


def _harm(fleet: Fleet, luck: random.Random) -> str:
    """Something happens to a worker, or to the dispatcher; gives it in words."""
    number = luck.randrange(-1, WORKERS)
    what = luck.choice(("kill", "kill", "end", "pause"))
    who = "the dispatcher" if number < 0 else str(number)
    if what == "pause":
        # Six seconds are enough to be taken for dead and to wake up behind another attempt.
        seconds = luck.choice((0.2, 0.2, 1.0, 6.0))
        fleet.pause(number, seconds)
        return f"pause {who} for {seconds} s"
    if number < 0:
        fleet.restart_dispatcher()
        return f"kill {who}"
    fleet.restart(number, signal.SIGKILL if what == "kill" else signal.SIGTERM)
    return f"{what} {who}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="how many rounds to play")
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
