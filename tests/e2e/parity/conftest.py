"""A cluster as TensorFlow's own tests of its service use one: small, quick to notice, with a journal where asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tfsvc as tf

service = tf.data.experimental.service
Dataset = tf.data.Dataset


class Cluster:
    """A dispatcher and workers of this process, each of which can be started again at its port."""

    def __init__(self, work_dir: Path) -> None:
        self._work_dir = work_dir
        self._config: Any = None
        self.dispatcher: Any = None
        self.workers: list[Any] = []

    def up(self, workers: int = 1, *, keeps: bool = False, **config: Any) -> Cluster:
        """Starts a dispatcher, with a journal if it ``keeps`` one, and workers."""
        if keeps:
            config |= {"fault_tolerant_mode": True, "work_dir": str(self._work_dir)}
        self.dispatcher = service.DispatchServer(service.DispatcherConfig(own_process=False, **config))
        port = int(self.dispatcher.target.rsplit(":", 1)[1])
        self._config = service.DispatcherConfig(own_process=False, **{**config, "port": port})
        for _ in range(workers):
            self.add()
        return self

    def add(self, port: int = 0, **config: Any) -> Any:
        """One more worker."""
        config.setdefault("heartbeat_interval_ms", 50)
        worker = service.WorkerServer(service.WorkerConfig(self.dispatcher.target, port=port, **config))
        self.workers.append(worker)
        return worker

    def restart_dispatcher(self) -> None:
        self.dispatcher._server.crash()
        self.dispatcher = service.DispatchServer(self._config)

    def restart_worker(self, number: int, same_port: bool = True) -> None:
        """Crashes a worker and starts another."""
        old = self.workers[number]
        old._server.crash()
        new = self.add(old.port if same_port else 0)
        self.workers.remove(new)
        self.workers[number] = new

    def distribute(self, dataset: Any, mode: Any = "parallel_epochs", **more: Any) -> Any:
        more.setdefault("task_refresh_interval_hint_ms", 20)
        return dataset.apply(service.distribute(mode, self.dispatcher.target, **more))

    def read(self, dataset: Any, mode: Any = "parallel_epochs", **more: Any) -> list[Any]:
        """All elements of the distributed dataset."""
        return [element.tolist() for element in self.distribute(dataset, mode, **more)]

    def close(self) -> None:
        for server in (*self.workers, self.dispatcher):
            if server is not None:
                server.stop()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path / "journal")
    yield made
    made.close()
