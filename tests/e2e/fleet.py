"""A fleet of real processes that can come to harm: a dispatcher with a journal, workers, and trainers that resume."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tfsvc.errors import OpError
from tfsvc.protocol.ids import SECOND
from tfsvc.protocol.messages import GetWorkersRequest, GetWorkersResponse
from tfsvc.service.backend import backend

WORKERS = 3
COUNT = 900


class Fleet:
    """All processes but the readers', each at a port of its own.

    Args:
      directory: where the journal and the input files are written.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.files = []
        for number in range(30):
            path = directory / f"{number}.txt"
            path.write_text("".join(f"{value}\n" for value in range(number, COUNT, 30)))
            self.files.append(str(path))
        dispatcher, *self._ports = (_free_port() for _ in range(1 + WORKERS))
        self.address = f"localhost:{dispatcher}"
        self.target = f"grpc://{self.address}"
        self._dispatcher = self._start_dispatcher()
        self._workers = [self._start_worker(port) for port in self._ports]

    def wait(self) -> None:
        """Until all workers have registered."""
        give_up = time.monotonic() + 60
        while True:
            assert time.monotonic() < give_up, "the workers did not register"
            try:
                answer = backend("grpc").ask(self.address, GetWorkersRequest(), 30 * SECOND)
            except OpError:
                continue
            assert isinstance(answer, GetWorkersResponse)
            if len(answer.workers) == WORKERS:
                return
            time.sleep(0.05)

    def restart(self, number: int, how: signal.Signals) -> None:
        """Ends a worker by a signal and starts another one at its port."""
        _end(self._workers[number], how)
        self._workers[number] = self._start_worker(self._ports[number])

    def restart_dispatcher(self) -> None:
        """Kills the dispatcher and starts it again on its journal."""
        _end(self._dispatcher, signal.SIGKILL)
        self._dispatcher = self._start_dispatcher()

    def pause(self, number: int, seconds: float) -> None:
        """Stops a worker's process for a while; the dispatcher's where ``number`` is negative."""
        process = self._dispatcher if number < 0 else self._workers[number]
        process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        for process in (*self._workers, self._dispatcher):
            process.kill()
            process.wait()

    def _start_dispatcher(self) -> subprocess.Popen[bytes]:
        port = self.address.rpartition(":")[2]
        return start("-m", "tfsvc", "dispatcher", "--port", port, "--work-dir", str(self.directory / "journal"))

    def _start_worker(self, port: int) -> subprocess.Popen[bytes]:
        return start("-m", "tfsvc", "worker", self.address, "--port", str(port), "--drain", "5s")


@contextmanager
def fleet() -> Iterator[Fleet]:
    with tempfile.TemporaryDirectory() as directory:
        made = Fleet(Path(directory))
        try:
            yield made
        finally:
            made.close()


def start(*arguments: str, output: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """A process of this Python that finds what this one finds; ``output`` is as ``stdout`` of ``Popen``."""
    paths = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen([sys.executable, *arguments], env={**os.environ, "PYTHONPATH": paths}, stdout=output)


def _end(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    process.send_signal(how)
    process.wait(10)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return int(found.getsockname()[1])
