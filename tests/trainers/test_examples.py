"""The scripts in ``examples`` do what they say, as does each process that a launcher starts."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from tests.e2e.conftest import Service

pytestmark = [pytest.mark.trainers, pytest.mark.timeout(300)]

RANK = """
import json, os
from examples.story import batches
from tfsvc.trainers import consumer_from_environment
target = {target!r}
dataset = batches(target, consumer_from_environment(os.environ))
print(json.dumps([batch["number"].tolist() for batch in dataset]))
"""


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **more}


@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize("name", ["lightning", "accelerate"])
def test_a_run_in_two_parts_is_as_one(name: str, workers: str) -> None:
    if not (importlib.util.find_spec(name) and importlib.util.find_spec("torchdata")):
        pytest.skip(f"{name} is not installed")
    command = [sys.executable, "-m", f"examples.{name}_trainer", workers]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "steps, in two runs: the same as in one" in done.stdout


def test_ranks_share_a_job(two_workers: Service) -> None:
    script = RANK.format(target=two_workers.target)
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            env=environment(RANK=str(rank), WORLD_SIZE="2"),
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    one, other = (json.loads(rank.communicate(timeout=120)[0]) for rank in ranks)
    assert list(map(len, one)) == list(map(len, other))
    numbers = [x for batch in one + other for x in batch]
    assert len(set(numbers)) == len(numbers) > 350
