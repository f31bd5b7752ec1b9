"""The two data-service documents that the project implements: each of their examples runs as it stands.

They lie beside the checkout, in ``shared/seeds``; without them there is nothing to test.
"""

from __future__ import annotations

import ast
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path

import pytest

SEEDS = Path(__file__).parents[2] / "shared" / "seeds"
DOCUMENTS = [p for p in sorted(SEEDS.glob("*.txt")) if "tf.data.experimental.service" in p.read_text()[:200]]
PRELUDE = "import tfsvc as tf\n"
SERVER = "dispatcher = tf.data.experimental.service.DispatchServer("


def examples() -> list[str]:
    """The paragraphs of code, in order, each once; signatures are none."""
    found: dict[str, None] = {}
    for document in DOCUMENTS:
        for paragraph in re.split(r"\n\s*\n", document.read_text()):
            if re.match(r"(dispatcher|worker|worker_server) = ", paragraph):
                found[paragraph] = None
    return list(found)


EXAMPLES = examples()
needs_seeds = pytest.mark.skipif(not EXAMPLES, reason="no documents beside the checkout")


def wait_for_free_ports(code: str) -> None:
    """The examples name their ports, which something else on this machine may hold for a while."""
    until = time.monotonic() + 30
    for port in map(int, re.findall(r"port=(\d{4})", code)):
        while time.monotonic() < until:
            with socket.socket() as probe, suppress(OSError):
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("localhost", port))
                break
            time.sleep(0.2)


def run(code: str, seconds: float) -> tuple[int | None, str, str]:
    """Exit code (``None``: still running), output and errors; one that still runs is interrupted, and must end."""
    wait_for_free_ports(code)
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", PRELUDE + code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=5)
        return None, out, err
    return process.returncode, out, err


@needs_seeds
def test_the_documents_hold_the_examples_that_we_know():
    assert len(EXAMPLES) == 8


@needs_seeds
@pytest.mark.parametrize("code", [c for c in EXAMPLES if "join()" not in c and "gs://" not in c])
def test_an_example_runs(code):
    setup = "" if SERVER in code else f"{SERVER})\n"
    code_, out, err = run(setup + textwrap.dedent(code), 30)
    assert code_ == 0, err
    last = code.strip().splitlines()[-1]
    if last.startswith("["):
        printed = re.findall(r"\d+", out.replace("np.int64", ""))
        assert [int(number) for number in printed] == ast.literal_eval(last)


@needs_seeds
@pytest.mark.xdist_group("fixed ports")
@pytest.mark.parametrize("code", [c for c in EXAMPLES if "join()" in c])
def test_a_server_that_joins_serves_until_it_is_interrupted(code):
    for _ in range(5):
        code_, _, err = run(textwrap.dedent(code), 3)
        if "in use" not in err:
            break
    assert code_ is None, err
    assert err.strip().endswith("KeyboardInterrupt"), err


@needs_seeds
@pytest.mark.parametrize("code", [c for c in EXAMPLES if "gs://" in c])
def test_a_bucket_out_of_reach_says_so(code):
    """Its bucket belongs to somebody else, wherever this runs."""
    code_, _, err = run(textwrap.dedent(code), 30)
    assert code_ == 1
    assert re.search(r"(Unavailable|PermissionDenied)Error: the bucket gs://my-bucket/dispatcher/work_dir ", err), err
