"""The command line as people type it: what it refuses, and the demonstration with its killed worker."""

from __future__ import annotations

import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-m", "tfsvc"]


def tfsvc(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["dispatcher", "--host", "0.0.0.0"], "lets other machines connect"),
        (["dispatcher", "--port", "99999"], "port must be"),
        (["worker", "nowhere"], "Malformed address"),
        (["worker", ""], "dispatcher_address"),
        (["worker", "localhost:1", "--host", "0.0.0.0"], "lets other machines connect"),
        (["worker", "localhost:1", "--advertise", "nowhere"], "Malformed address"),
        (["dispatcher", "--token-file", "nowhere"], "cannot read token_file='nowhere'"),
        (["worker", "localhost:1", "--tls-ca", "nowhere"], "cannot read ca_file='nowhere'"),
        (["stop", "localhost:1", "--tls-key", "key"], "go together"),
    ],
)
def test_what_cannot_be_right_is_refused_in_one_line(arguments: list[str], complaint: str) -> None:
    done = tfsvc(*arguments)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_demonstration_kills_a_worker_and_loses_nothing() -> None:
    done = tfsvc("demo", "--files", "40")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "killed by SIGKILL" in done.stdout
    assert done.stdout.count("lost 0, repeated 0") == 2
