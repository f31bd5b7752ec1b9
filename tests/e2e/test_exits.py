"""Ctrl-C and the interpreter's end: in time in every state, without a word, and with nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

PRELUDE = """
import sys, threading, time
import tfsvc as tf
service = tf.data.experimental.service
Dataset = tf.data.Dataset
endless = Dataset.range(1 << 40)

def ones():
    while True:
        time.sleep(0.01)
        yield 1

def start(own_process=False, workers=1):
    global dispatcher, fleet
    dispatcher = service.DispatchServer(service.DispatcherConfig(own_process=own_process))
    fleet = [service.WorkerServer(service.WorkerConfig(dispatcher.target)) for _ in range(workers)]

def read(dataset):
    return iter(dataset.apply(service.distribute("distributed_epoch", dispatcher.target)))

def in_background(action):
    threading.Thread(target=action, daemon=True).start()
    time.sleep(0.2)
"""

STATES = {
    "servers": ("start()", "dispatcher.join()"),
    "a worker without its dispatcher": (
        "worker = service.WorkerServer(service.WorkerConfig('localhost:1'))",
        "worker.join()",
    ),
    "a reader half-way": ("start(); iterator = read(endless); next(iterator)", "time.sleep(60)"),
    "a reader that waits": ("start(workers=0); iterator = read(endless)", "next(iterator)"),
    "a generator on a worker": (
        "start(); iterator = read(Dataset.from_generator(ones, output_types='int64')); next(iterator)",
        "time.sleep(60)",
    ),
    "registration with nobody": ("", "service.register_dataset('localhost:1', endless)"),
    "a dispatcher of its own process": (
        "start(own_process=True); iterator = read(endless); next(iterator)",
        "time.sleep(60)",
    ),
}


@contextmanager
def _running(script: str) -> Iterator[subprocess.Popen[str]]:
    """A process that runs ``script`` and has said that it is ready; killed with its children at the end."""
    process = subprocess.Popen(
        [sys.executable, "-X", "dev", "-W", "error", "-c", PRELUDE + script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
        yield process
    finally:
        with process, suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("state", STATES)
def test_the_interpreter_ends_in_any_state(state: str) -> None:
    setup, wait = STATES[state]
    with _running(f"{setup}\nin_background(lambda: {wait})\nprint('ready', flush=True)\n") as process:
        _, complaint = process.communicate(timeout=5)
    assert (process.returncode, complaint) == (0, "")


@pytest.mark.parametrize("state", STATES)
def test_ctrl_c_ends_the_program_in_any_state(state: str) -> None:
    setup, wait = STATES[state]
    with _running(f"{setup}\nprint('ready', flush=True)\n{wait}\n") as process:
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        _, complaint = process.communicate(timeout=5)
        assert time.monotonic() - started < 2
    assert process.returncode == -signal.SIGINT
    assert complaint.rstrip().endswith("KeyboardInterrupt")
    assert complaint.count("Traceback") == 1, complaint


def test_a_dispatcher_of_its_own_process_ends_with_a_parent_that_is_killed() -> None:
    script = "start(own_process=True)\nprint('ready', flush=True)\nprint(dispatcher._server._child.pid, flush=True)\n"
    with _running(script + "time.sleep(60)\n") as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.kill()
        give_up = time.monotonic() + 3
        while _runs(child):
            assert time.monotonic() < give_up, "the dispatcher outlived its parent"
            time.sleep(0.02)


def _runs(process: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        with open(f"/proc/{process}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
