"""Clusters of servers, each in a process of its own, which can be killed.

A session of TensorFlow's needs them so: it keeps the interpreter's lock in some calls while it waits for a server.
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SERVE = """
import json, sys
import tfsvc
cluster, job, index = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
server = tfsvc.distribute.Server(cluster, job, index)
print(server.target, flush=True)
sys.stdin.read()
server.stop()
"""

Cluster = dict[str, list[str]]


def free_ports(count: int) -> list[int]:
    """Ports that nobody has now."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("localhost", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def new_cluster(**jobs: int) -> Cluster:
    """Addresses for so many tasks of each job."""
    ports = iter(free_ports(sum(jobs.values())))
    return {job: [f"localhost:{next(ports)}" for _ in range(count)] for job, count in jobs.items()}


class Task:
    """One server; ``again`` starts it anew, at its old address."""

    def __init__(self, cluster: Cluster, job: str, index: int) -> None:
        self._place = cluster, job, index
        arguments = [sys.executable, "-c", SERVE, json.dumps(cluster), job, str(index)]
        self._process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._target = ""

    @property
    def target(self) -> str:
        if not self._target:
            assert self._process.stdout is not None
            self._target = self._process.stdout.readline().strip()
        return self._target

    def kill(self) -> None:
        """Ends it as a crash would."""
        self._process.kill()
        self._process.wait()
        self.close()

    def freeze(self) -> None:
        """Stops it in its tracks."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Lets it go on."""
        self._process.send_signal(signal.SIGCONT)

    def again(self) -> Task:
        """Another life of it, which is ready."""
        task = Task(*self._place)
        assert task.target
        return task

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.communicate(timeout=10)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


@contextmanager
def serving(cluster: Cluster) -> Iterator[dict[str, Task]]:
    """All servers of a cluster, by names such as ``"ps0"``; they end with the block."""
    tasks = {f"{job}{i}": Task(cluster, job, i) for job, addresses in cluster.items() for i in range(len(addresses))}
    try:
        for task in tasks.values():
            assert task.target
        yield tasks
    finally:
        for task in tasks.values():
            task.close()
