"""The black-box cases that TensorFlow passes, with us in its place: all roles, and the dispatcher alone.

They lie beside the checkout, in ``shared/conformance``; without them there is nothing to test.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).parents[3] / "shared" / "conformance" / "run.py"

pytestmark = [
    pytest.mark.interop,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not RUNNER.exists(), reason="no cases beside the checkout"),
]


def run(dispatcher: str, worker: str, client: str, *chosen: str) -> str:
    command = [sys.executable, str(RUNNER), "--dispatcher", dispatcher, "--worker", worker, "--client", client]
    return subprocess.run(
        [*command, *(chosen or ("--tag", "core"))], capture_output=True, text=True, timeout=590
    ).stdout


def test_in_every_role():
    out = run("tfsvc", "tfsvc", "tfsvc")
    assert out.splitlines()[-1].endswith("passed, 0 failed"), out


def test_between_a_tensorflow_worker_and_a_tensorflow_reader():
    pytest.importorskip("tensorflow")
    out = run("tfsvc", "tf", "tf")
    assert out.splitlines()[-1].endswith("passed, 0 failed"), out


@pytest.mark.parametrize("others", ["tfsvc", "tf"])
def test_saved_by_all_workers_and_loaded(others):
    pytest.importorskip("tensorflow")
    out = run("tfsvc", others, others, "-k", "saved_and_loaded")
    assert out.splitlines()[-1] == "1 passed, 0 failed", out
