"""The black-box cases that TensorFlow passes, with us in its place: in all roles, as dispatcher, as worker and reader.

Where a mix shares all code with another one, only those cases are played in it that show the difference.

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


@pytest.mark.parametrize("chosen", ["shared", "dynamic", "worker_error", "fixed_workers", "restart", "rounds", "cache"])
def test_under_tensorflows_dispatcher(chosen):
    pytest.importorskip("tensorflow")
    out = run("tf", "tfsvc", "tfsvc", "-k", chosen)
    assert out.splitlines()[-1].endswith("passed, 0 failed"), out
    assert not out.startswith("0 passed"), out


@pytest.mark.parametrize("others", ["tfsvc", "tf"])
def test_between_others_with_a_journal_and_fixed_workers(others):
    pytest.importorskip("tensorflow")
    out = run("tfsvc", others, others, "-k", "fixed_workers")
    assert out.splitlines()[-1] == "1 passed, 0 failed", out


@pytest.mark.parametrize("others", ["tfsvc", "tf"])
def test_saved_by_all_workers_and_loaded(others):
    pytest.importorskip("tensorflow")
    out = run("tfsvc", others, others, "-k", "saved_and_loaded")
    assert out.splitlines()[-1] == "1 passed, 0 failed", out
