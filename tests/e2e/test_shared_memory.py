"""Large elements between real processes of one host: through shared memory, and what is left of it after a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfsvc as tf
from tests import soon
from tests.sharing import buffers
from tfsvc_transports.deposits import Deposits

service = tf.data.experimental.service

MEBIBYTE = 1 << 20
SERVE = """
import sys, tfsvc as tf
service = tf.data.experimental.service
dispatcher = service.DispatchServer()
worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher.target))
print(dispatcher.target, flush=True)
sys.stdin.read()
"""


class Process:
    """A script in a process of its own; killed if it is still there at the end."""

    def __init__(self, script: str) -> None:
        paths = os.pathsep.join(filter(None, sys.path))
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", script],
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def process(script: str) -> Iterator[Process]:
    made = Process(script)
    try:
        yield made
    finally:
        made.kill()


@pytest.fixture
def serving() -> Iterator[Process]:
    with process(SERVE) as made:
        yield made


def numbered(size: int, count: int) -> Any:
    """Elements of ``size`` bytes, each full of its number."""
    return tf.data.Dataset.range(count).map(lambda i: np.full(size // 8, i, np.int64))


def read(dataset: Any, target: str, **arguments: Any) -> Any:
    return iter(dataset.apply(service.distribute("distributed_epoch", target, **arguments)))


until = partial(soon.until, seconds=10, every=0.02)


def memory(pid: int) -> int:
    """The most bytes that a process had in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM"))


@pytest.mark.parametrize("transfer", [None, "grpc"])
def test_every_element_comes_once_and_whole(serving: Process, transfer: str | None) -> None:
    elements = read(numbered(MEBIBYTE, 200), serving.line(), data_transfer_protocol=transfer)
    kept, shared = [], False
    for element in elements:
        kept.append(element)
        shared = shared or bool(buffers())
    assert shared == (transfer is None)
    assert sorted(int(element[0]) for element in kept) == list(range(200))
    assert all((element == element[0]).all() for element in kept)


def test_a_worker_out_of_reach_sends_elements_in_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Deposits, "put", lambda self, offer, bodies: None)
    with (
        service.DispatchServer() as dispatcher,
        service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher.target)),
    ):
        got = list(read(numbered(MEBIBYTE, 20), dispatcher.target))
    assert sorted(int(element[0]) for element in got) == list(range(20))
    assert until(lambda: not buffers())


def test_a_process_that_can_map_nothing_more_reads_on(serving: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("too many open files")

    elements = read(numbered(MEBIBYTE, 60), serving.line())
    got = [int(next(elements)[0])]
    monkeypatch.setattr("tfsvc_transports.memory._Buffer.map", refuse)
    got += [int(element[0]) for element in elements]
    assert got == list(range(60))


def test_a_killed_worker_leaves_nothing_and_takes_nothing_away(serving: Process) -> None:
    before = set(os.listdir("/dev/shm"))
    elements = read(numbered(MEBIBYTE, 1 << 30), serving.line())
    kept = [next(elements) for _ in range(20)]
    assert buffers()
    serving.kill()
    assert [int(element[0]) for element in kept] == list(range(20))
    assert all((element == element[0]).all() for element in kept)
    assert set(os.listdir("/dev/shm")) <= before
    del elements
    kept.clear()
    assert until(lambda: not buffers())


def test_a_killed_reader_leaves_nothing(serving: Process) -> None:
    before = set(os.listdir("/dev/shm"))
    script = f"""
import sys, numpy as np, tfsvc as tf
distribute = tf.data.experimental.service.distribute
data = tf.data.Dataset.range(1 << 30).map(lambda i: np.full(1 << 17, i, np.int64))
for number, element in enumerate(data.apply(distribute("distributed_epoch", {serving.line()!r}))):
    if number == 100:
        print("reading", flush=True)
"""
    with process(script) as reader:
        assert reader.line() == "reading"
        assert buffers(reader.pid)
        os.kill(reader.pid, signal.SIGKILL)
    assert until(lambda: not buffers(serving.pid))
    assert until(lambda: "memfd:tfsvc" not in Path(f"/proc/{serving.pid}/maps").read_text())
    assert set(os.listdir("/dev/shm")) <= before


def test_elements_that_a_forked_child_holds_stay_as_they_are(serving: Process) -> None:
    script = f"""
import os, numpy as np, tfsvc as tf
distribute = tf.data.experimental.service.distribute
data = tf.data.Dataset.range(1 << 30).map(lambda i: np.full(1 << 17, i, np.int64))
elements = iter(data.apply(distribute("distributed_epoch", {serving.line()!r})))
element = [next(elements) for _ in range(30)][-1]
inside, outside = os.pipe()
child = os.fork()
if child == 0:
    os.close(outside)
    os.read(inside, 1)
    os._exit(0 if (element == 29).all() else 1)
os.close(inside)
del element
assert [int(next(elements)[0]) for _ in range(200)] == list(range(30, 230))
os.close(outside)
print(os.waitpid(child, 0)[1], flush=True)
"""
    with process(script) as reader:
        assert reader.line() == "0"


@pytest.mark.parametrize(("transfer", "limit"), [(None, 5), ("grpc", 12)])
def test_a_slow_reader_of_large_elements_keeps_within_its_budget(
    serving: Process, transfer: str | None, limit: int
) -> None:
    """A budget is less than one of these elements, so there are two at the most: gRPC copies each several times."""
    size = 64 * MEBIBYTE
    script = f"""
import time, numpy as np, tfsvc as tf
distribute = tf.data.experimental.service.distribute
data = tf.data.Dataset.range(1 << 30).map(lambda i: np.full({size} // 8, i, np.int64))
elements = iter(data.apply(distribute("distributed_epoch", {serving.line()!r}, data_transfer_protocol={transfer!r})))
for number in range(8):
    assert (next(elements) == number).all()
    time.sleep(0.3)
print("read", flush=True)
time.sleep(60)
"""
    with process(script) as reader:
        assert reader.line() == "read"
        assert memory(reader.pid) < limit * size
        assert memory(serving.pid) < 6 * size
