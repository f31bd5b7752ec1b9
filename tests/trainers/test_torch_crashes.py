"""Workers of the service and trainers are really killed, under PyTorch's loaders."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tfsvc as tf
from tests.e2e.fleet import WORKERS, Fleet, fleet, start

torch = pytest.importorskip("torch")
stateful = pytest.importorskip("torchdata.stateful_dataloader")

from torch.utils.data import DataLoader  # noqa: E402

from tfsvc.torch import IterableDataset  # noqa: E402

pytestmark = [
    pytest.mark.trainers,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:.*set_vital.*", "ignore:.*worker processes in total.*"),
]

COUNT, BATCH, EVERY = 400, 8, 5
service = tf.data.experimental.service


@pytest.fixture(scope="module")
def cluster() -> Iterator[Fleet]:
    with fleet() as made:
        made.wait()
        yield made


def slow(x: Any) -> Any:
    """An element that takes a moment."""
    time.sleep(0.005)
    return x


def numbers(target: str, **arguments: Any) -> Any:
    dataset = tf.data.Dataset.range(COUNT).map(slow)
    return IterableDataset(dataset.apply(service.distribute("distributed_epoch", target, **arguments)))


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("deterministic", [False, True])
def test_killed_workers_cost_nothing(cluster: Fleet, workers: int, deterministic: bool) -> None:
    dataset = numbers(cluster.target, deterministic=deterministic)
    got: list[int] = []
    for step, batch in enumerate(DataLoader(dataset, batch_size=BATCH, num_workers=workers)):
        got += batch.tolist()
        if step in (5, 15):
            cluster.restart(step % WORKERS, signal.SIGKILL)
    assert sorted(got) == list(range(COUNT))
    if deterministic and not workers:
        assert got == list(range(COUNT))


def test_a_killed_worker_of_the_loader_is_told_and_its_state_is_not_lost(cluster: Fleet) -> None:
    def fresh() -> Any:
        return stateful.StatefulDataLoader(numbers(cluster.target, deterministic=True), batch_size=BATCH, num_workers=2)

    expected = [batch.tolist() for batch in fresh()]
    broken = fresh()
    iterator = iter(broken)
    before = [next(iterator).tolist() for _ in range(7)]
    state = broken.state_dict()
    iterator._workers[1].kill()
    with pytest.raises(RuntimeError, match="DataLoader worker"):
        list(iterator)
    resumed = fresh()
    resumed.load_state_dict(state)
    assert before + [batch.tolist() for batch in resumed] == expected


@pytest.mark.parametrize("workers", [0, 2])
def test_a_killed_trainer_resumes(cluster: Fleet, tmp_path: Path, workers: int) -> None:
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    for folder in (calm, killed):
        folder.mkdir()
    assert run(cluster, calm, workers).wait(120) == 0
    trainer = run(cluster, killed, workers)
    while lines(killed / "log") < 4 * EVERY + 2:
        assert trainer.poll() is None
        time.sleep(0.01)
    os.kill(trainer.pid, signal.SIGKILL)
    trainer.wait()
    cluster.restart(0, signal.SIGKILL)
    assert lines(killed / "log") < COUNT // BATCH
    assert run(cluster, killed, workers).wait(120) == 0
    assert read(killed) == read(calm)
    assert sorted(x for batch in read(calm) for x in batch) == list(range(COUNT))


def run(cluster: Fleet, folder: Path, workers: int) -> Any:
    return start("-m", "tests.trainers.test_torch_crashes", cluster.target, str(folder), str(workers))


def lines(log: Path) -> int:
    return log.read_text().count("\n") if log.exists() else 0


def read(folder: Path) -> list[list[int]]:
    """The last batch that was logged for each step."""
    return list(dict(json.loads(line) for line in (folder / "log").read_text().splitlines()).values())


def train(target: str, folder: Path, workers: int) -> None:
    """Logs each batch, and goes on from its checkpoint, if there is one."""
    dataset = numbers(target, deterministic=True)
    loader = stateful.StatefulDataLoader(dataset, batch_size=BATCH, num_workers=workers)
    checkpoint, step = folder / "checkpoint", 0
    if checkpoint.exists():
        saved = torch.load(checkpoint)
        step = saved["step"]
        loader.load_state_dict(saved["data"])
    with (folder / "log").open("a") as log:
        for batch in loader:
            step += 1
            print(json.dumps([step, batch.tolist()]), file=log, flush=True)
            if step % EVERY == 0:
                torch.save({"step": step, "data": loader.state_dict()}, folder / "new")
                os.replace(folder / "new", checkpoint)


if __name__ == "__main__":
    train(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
