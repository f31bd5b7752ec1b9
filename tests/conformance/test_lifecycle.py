"""Starting, stopping, forking and interrupting: what must never hang, leak or be left behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conformance.processes import Cluster, open_reader
from tfsvc.data.dataset import Dataset
from tfsvc.errors import UnavailableError
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc_transports import backends

ROOT = Path(__file__).resolve().parents[2]
PRELUDE = """
import os, sys, threading, time
from tests.conformance.processes import Cluster, open_reader
from tfsvc.data.dataset import Dataset
from tfsvc.protocol.reading import Taken
"""


class Script:
    """A process that runs a script with this project's packages; killed if it is still there at the end."""

    def __init__(self, script: str, **env: str) -> None:
        path = os.pathsep.join(str(ROOT / part) for part in (".", "sim", "transports"))
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", PRELUDE + script],
            env={**os.environ, "PYTHONPATH": path, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Script:
        return self

    def __exit__(self, *_: object) -> None:
        # With its children: they hold its output open.
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def line(self) -> str:
        """The next line it prints; empty at its end."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def check_end(self, seconds: float) -> None:
        """Asserts that it ends well and in time, without a word of complaint."""
        _, complaint = self.process.communicate(timeout=seconds)
        assert (self.process.returncode, complaint) == (0, "")


def test_a_port_is_free_right_after_the_stop() -> None:
    nodes = backends.grpc()
    first = nodes.start_dispatcher("localhost", 0, DispatcherSettings())
    first.stop()
    for _ in range(100):
        server = nodes.start_dispatcher("localhost", first.port, DispatcherSettings())
        server.stop()
    with socket.socket() as taker:
        taker.bind(("localhost", first.port))


def test_a_port_in_use_is_an_error() -> None:
    nodes = backends.grpc()
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(UnavailableError, match="in use"):
            nodes.start_dispatcher("localhost", port, DispatcherSettings())


def test_no_thread_and_no_file_is_left() -> None:
    def run() -> None:
        cluster = Cluster(Dataset.range(100))
        reader = open_reader(cluster.address, cluster.dataset_id)
        reader.next_batch()
        reader.close()
        cluster.stop()

    run()
    before = {thread.ident for thread in threading.enumerate()}
    files = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        run()
    give_up = time.monotonic() + 5
    while {thread.ident for thread in threading.enumerate()} - before or len(os.listdir("/proc/self/fd")) > files:
        assert time.monotonic() < give_up, [thread.name for thread in threading.enumerate()]
        time.sleep(0.02)


@pytest.mark.parametrize("ending", ["pass", "sys.exit(0)"])
def test_the_interpreter_ends_with_everything_running(ending: str) -> None:
    script = f"""
cluster = Cluster(Dataset.range(1 << 40))
reader = open_reader(cluster.address, cluster.dataset_id)
reader.next_batch()
print("ready", flush=True)
{ending}
"""
    with Script(script) as running:
        assert running.line() == "ready"
        running.check_end(2)


def test_ctrl_c_interrupts_a_read_and_loses_nothing() -> None:
    script = """
cluster = Cluster(Dataset.range(10).map(lambda x: (time.sleep(0.3), x)[1]))
reader = open_reader(cluster.address, cluster.dataset_id)
print("waiting", flush=True)
first = None
try:
    first = reader.next_batch()
except KeyboardInterrupt:
    print("interrupted", flush=True)
print((first or reader.next_batch()).first, flush=True)
reader.close()
cluster.stop()
"""
    with Script(script) as running:
        assert running.line() == "waiting"
        time.sleep(0.1)
        running.process.send_signal(signal.SIGINT)
        assert [running.line(), running.line()] == ["interrupted", "0"]
        running.check_end(4)


def test_a_forked_child_reads_anew_but_not_what_it_inherited() -> None:
    serve = """
cluster = Cluster(Dataset.range(1 << 40))
print(cluster.address, cluster.dataset_id, flush=True)
time.sleep(60)
"""
    read = """
address, dataset_id = os.environ["SERVICE"].split()
reader = open_reader(address, dataset_id)
busy = True
def read():
    taken = ()
    while busy:
        batch = reader.next_batch(taken)
        taken = (Taken(batch.stream, batch.frame.end),)
thread = threading.Thread(target=read)
thread.start()
time.sleep(0.1)
for _ in range(5):
    child = os.fork()
    if child == 0:
        try:
            reader.next_batch()
        except Exception as error:
            assert "forked" in str(error), error
        reader.close()
        mine = open_reader(address, dataset_id)
        ok = mine.next_batch().frame.count > 0
        mine.close()
        os._exit(0 if ok else 1)
    print(os.waitpid(child, 0)[1], flush=True)
busy = False
thread.join()
reader.close()
"""
    with Script(serve) as serving, Script(read, SERVICE=serving.line()) as reading:
        assert [reading.line() for _ in range(5)] == ["0"] * 5
        reading.check_end(5)


def test_a_proxy_for_the_web_is_passed_by() -> None:
    script = """
cluster = Cluster(Dataset.range(10))
print(open_reader(cluster.address, cluster.dataset_id).next_batch().frame.count > 0, flush=True)
"""
    proxy = "http://127.0.0.1:1"
    with Script(script, http_proxy=proxy, grpc_proxy=proxy) as running:
        assert running.line() == "True"
        running.check_end(2)
