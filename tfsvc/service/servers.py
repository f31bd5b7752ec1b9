"""The two servers of the data service, ``DispatchServer`` and ``WorkerServer``."""

from __future__ import annotations

import sys
from typing import Final, TypeVar

from tfsvc.errors import FailedPreconditionError
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import SECOND
from tfsvc.service.backend import Server, Worker
from tfsvc.service.config import DispatcherConfig, WorkerConfig, reachable, split_target
from tfsvc.service.lifecycle import ServerLifecycle

R = TypeVar("R", bound=m.Response)

ANSWER_NS: Final = 10 * SECOND


def _ask(server: ServerLifecycle, address: str, request: m.Request, kind: type[R]) -> R:
    answer = server.backend().ask(address, request, ANSWER_NS)
    assert isinstance(answer, kind)
    return answer


def _http_address(config: DispatcherConfig | WorkerConfig, server: Server) -> str | None:
    if server.http_port is None:
        return None
    scheme = "https" if config.security.resolved().ca_file else "http"
    return f"{scheme}://{reachable(config.http_host)}:{server.http_port}"


class RefusedWorkerError(FailedPreconditionError, RuntimeError):
    """The dispatcher does not take a worker; a ``RuntimeError`` too, as TensorFlow raises."""


class DispatchServer(ServerLifecycle):
    """An in-process dispatcher: it coordinates a cluster of :class:`WorkerServer`.

    Args:
      config: a :class:`DispatcherConfig`; the default one when not given. The older form, with ``port`` and
        ``protocol`` in its place, works too.
      start: whether to start at once; yes.
      port: as in the config.
      protocol: as in the config.

    Raises:
      tf.errors.OpError: if the server cannot start.
    """

    def __init__(
        self,
        config: DispatcherConfig | int | None = None,
        start: bool = True,
        *,
        port: int | None = None,
        protocol: str | None = None,
    ) -> None:
        if isinstance(config, int):
            config, port = None, config
        if config is not None and (port is not None or protocol is not None):
            raise ValueError("give either `config`, or `port` and `protocol`")
        if not isinstance(config, DispatcherConfig | None):
            raise TypeError(f"`config` must be a `DispatcherConfig`. Got {type(config)}.")
        self._config = config if config is not None else DispatcherConfig(port or 0, protocol)
        super().__init__(self._config.protocol, self._config.secured())
        if start:
            self.start()

    def _serve(self) -> Server:
        config = self._config
        found = self.backend()
        # TensorFlow's worker keeps the interpreter's lock while it waits for the dispatcher's first answer.
        apart = "tensorflow" in sys.modules if config.own_process is None else config.own_process
        start = found.host_dispatcher if apart else found.start_dispatcher
        settings, journal = config.settings(), config.journal_dir()
        http = config.http_address()
        return start(config.host, config.port, settings, journal, record_dir=config.record_dir, http=http)

    @property
    def target(self) -> str:
        """Where readers connect: ``protocol://localhost:port``.

        Raises:
          tf.errors.FailedPreconditionError: if the server was not started and its port is not fixed.
        """
        return f"{self._protocol}://{self._address}"

    @property
    def http_address(self) -> str | None:
        """Where its dashboard is, ``http://host:port``; ``None`` where it answers no HTTP.

        Raises:
          tf.errors.FailedPreconditionError: if the server was not started.
        """
        return _http_address(self._config, self._running())

    @property
    def _address(self) -> str:
        port = self._config.port or self._running().port
        return f"{reachable(self._config.host)}:{port}"

    def num_workers(self) -> int:
        """How many workers are registered and not lost."""
        return len(_ask(self, self._address, m.GetWorkersRequest(), m.GetWorkersResponse).workers)

    def recommended_workers(self) -> int | None:
        """How many workers would keep all readers busy; see :func:`recommended_workers`."""
        return _ask(self, self._address, m.GetScalingRequest(), m.GetScalingResponse).recommended

    def _snapshot_streams(self, path: str) -> tuple[m.SnapshotStreamInfo, ...]:
        request = m.GetSnapshotStreamsRequest(path)
        return _ask(self, self._address, request, m.GetSnapshotStreamsResponse).streams

    def _num_workers(self) -> int:
        return self.num_workers()

    def _stop(self) -> None:
        self.stop()


class WorkerServer(ServerLifecycle):
    """An in-process worker: it runs datasets and gives their elements to readers.

    Args:
      config: a :class:`WorkerConfig`. The older form, with ``port``, ``dispatcher_address``,
        ``worker_address`` and ``protocol`` in its place, works too.
      start: whether to start at once; yes.
      port: as in the config, as are the others.

    Raises:
      ValueError: if there is no dispatcher address.
      tf.errors.OpError: if the server cannot start.
      tf.errors.FailedPreconditionError: a ``RuntimeError`` too, if the dispatcher does not take the worker, since its
        address is not among ``DispatcherConfig.worker_addresses``.
    """

    def __init__(
        self,
        config: WorkerConfig | int | None = None,
        start: bool | str = True,
        *,
        port: int | None = None,
        dispatcher_address: str | None = None,
        worker_address: str | None = None,
        protocol: str | None = None,
    ) -> None:
        if isinstance(config, int):
            config, port = None, config
        begin = start is not False
        if isinstance(start, str):
            dispatcher_address = start
        if isinstance(config, WorkerConfig):
            if any(v is not None for v in (port, dispatcher_address, worker_address, protocol)):
                raise ValueError("give either `config`, or `port`, `dispatcher_address` and so on")
            self._config = config
        elif config is not None:
            raise TypeError(f"`config` must be a `WorkerConfig`. Got {type(config)}.")
        else:
            self._config = WorkerConfig(dispatcher_address or "", worker_address, port or 0, protocol)
        super().__init__(self._config.protocol, self._config.secured())
        self._worker: Worker | None = None
        if begin:
            self.start()

    def _serve(self) -> Server:
        config = self._config
        split_target(config.dispatcher_address)
        try:
            self._worker = self.backend().start_worker(
                config.host,
                config.port,
                config.settings(),
                transfer=config.data_transfer_protocol,
                transfer_port=config.data_transfer_port,
                record_dir=config.record_dir,
                http=config.http_address(),
            )
            return self._worker
        except FailedPreconditionError as error:
            raise RefusedWorkerError(message=error.message) from None

    @property
    def port(self) -> int:
        """The port it is bound to."""
        return self._running().port

    @property
    def http_address(self) -> str | None:
        """Where its metrics are, ``http://host:port``; ``None`` where it answers no HTTP.

        Raises:
          tf.errors.FailedPreconditionError: if the server was not started.
        """
        return _http_address(self._config, self._running())

    def drain(self, timeout: float = 300.0) -> bool:
        """Stops the worker as soon as nothing is lost by that.

        It gets no more work, and what other workers can go on with goes to them at once. What only it can give, as of
        datasets that every worker reads whole, is read to its end; where there is no end, its readers are told of one,
        in coordinated reads all in the same round.

        Args:
          timeout: seconds after which it stops all the same.

        Returns:
          Whether nothing was lost. True too for a worker that does not run.
        """
        self._forget()
        return self._worker is None or self._worker.drain(timeout)

    def num_tasks(self) -> int:
        """How many tasks it holds."""
        address = f"localhost:{self.port}"
        return len(_ask(self, address, m.GetWorkerTasksRequest(), m.GetWorkerTasksResponse).tasks)

    def _snapshot_task_progresses(self) -> tuple[m.SnapshotTaskProgress, ...]:
        request, kind = m.GetSnapshotTaskProgressesRequest(), m.GetSnapshotTaskProgressesResponse
        return _ask(self, f"localhost:{self.port}", request, kind).snapshot_task_progresses

    def _num_tasks(self) -> int:
        return self.num_tasks()

    def _stop(self) -> None:
        self.stop()
