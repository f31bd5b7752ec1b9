"""RPC clients and servers of both kinds, each with each: see ``rpc_cases``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("rpc_cases.py")
SIDES = ("tfsvc", "tensorflow")


@pytest.mark.interop
@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("client", SIDES)
@pytest.mark.parametrize("server", SIDES)
def test_every_case_holds_between(server: str, client: str) -> None:
    if "tensorflow" in (server, client):
        pytest.importorskip("tensorflow")
    done = subprocess.run(
        [sys.executable, str(CASES), server, client],
        capture_output=True,
        text=True,
        timeout=170,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
