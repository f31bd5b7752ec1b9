"""Backends of the public API: nodes on gRPC, or all within this process."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

from tfsvc.errors import AlreadyExistsError, OpError, RpcError, to_exception
from tfsvc.execution.methods import Methods
from tfsvc.flight.births import (
    AskerBirth,
    CallerBirth,
    DispatcherBirth,
    ReaderBirth,
    RpcClientBirth,
    RpcServerBirth,
    TaskBirth,
    WorkerBirth,
)
from tfsvc.protocol.client.request import ReadRequest
from tfsvc.protocol.cluster.asker import AskerSettings
from tfsvc.protocol.ids import Address, Incarnation
from tfsvc.protocol.messages import Request, Response
from tfsvc.protocol.rpc.settings import RpcServerSettings
from tfsvc.protocol.settings import ClientSettings, DispatcherSettings, WorkerSettings
from tfsvc.protocol.worker.machine import WorkerView
from tfsvc.service.backend import HttpAddress
from tfsvc.service.security import Security
from tfsvc_transports.driver import Driver
from tfsvc_transports.executor import ThreadExecutor
from tfsvc_transports.files import Files
from tfsvc_transports.hosted import HostedDispatcher
from tfsvc_transports.http.server import HttpServer
from tfsvc_transports.inprocess import InProcess
from tfsvc_transports.journal import Journal, MemoryJournal
from tfsvc_transports.nearby import WORKERS, Nearby
from tfsvc_transports.nodes import STOP_S, AskerNode, BoundTask, ReaderNode, RpcCallerNode, ServerNode, ask
from tfsvc_transports.places import open_journal
from tfsvc_transports.pool import GraphPool, Pool, Producers
from tfsvc_transports.recorder import Recorder, wanted
from tfsvc_transports.telemetry.readers import BOOK
from tfsvc_transports.telemetry.serving import (
    DispatcherTelemetry,
    WorkerTelemetry,
    keep_book,
    reader_metrics,
    reader_watchers,
    serve_reader_metrics,
)
from tfsvc_transports.transport import Transport

ORIGINS: Final = 1 << 30
"""Among how many places a new state's ids begin. TensorFlow's workers hang on ids that take many more than 32 bits."""
REFUSAL_S: Final = 1.0
"""How long a worker that starts waits for the dispatcher's first answer, which may be a refusal."""


class Nodes:
    """Starts nodes that reach each other by one kind of transport.

    Args:
      connect: makes the transport of one node.
      connect_apart: the same for a reader that shares no memory with its workers.
      security: for nodes in other processes.
    """

    def __init__(
        self,
        connect: Callable[[], Transport],
        connect_apart: Callable[[], Transport] | None = None,
        security: Security | None = None,
    ) -> None:
        self._connect = connect
        self._security = security
        self._connect_apart = connect_apart or connect

    def start_dispatcher(
        self,
        host: str,
        port: int,
        settings: DispatcherSettings,
        work_dir: str | None = None,
        journal: Journal | None = None,
        record_dir: str | None = None,
        http: HttpAddress | None = None,
    ) -> ServerNode:
        """A dispatcher at ``host:port`` that goes on with what its journal recovers.

        Args:
          work_dir: where to keep the journal: a directory, or the URL of a bucket.
          journal: another journal; with neither, the dispatcher forgets all at its end.
          record_dir: where to record it.
          http: where it answers HTTP; nowhere when not given.

        Raises:
          OpError: if an address cannot be had, or the journal cannot be used.
        """
        transport = self._connect()
        if journal is None:
            journal = MemoryJournal() if work_dir is None else open_journal(work_dir)
        settings = replace(settings, fault_tolerant=not isinstance(journal, MemoryJournal))
        telemetry = DispatcherTelemetry(work_dir)
        driver = Driver(
            "the dispatcher",
            transport,
            journal=journal,
            files=Files(),
            recorder=_recorder(record_dir),
            watchers=telemetry.watchers(http),
        )
        try:
            port = driver.listen(host, port)
            records = journal.recover()
            http_port = telemetry.serve(driver, http, self._security)
        except OpError:
            driver.crash()
            raise
        name = f"{host}:{port}"
        origin = secrets.randbelow(ORIGINS)
        driver.begin(DispatcherBirth(settings, name, _incarnation(), _seed(), tuple(records), origin))
        return ServerNode(driver, port, http_port=http_port)

    def host_dispatcher(
        self,
        host: str,
        port: int,
        settings: DispatcherSettings,
        work_dir: str | None = None,
        record_dir: str | None = None,
        http: HttpAddress | None = None,
    ) -> HostedDispatcher:
        """A dispatcher on a network in a process of its own, which ends with this one.

        Raises:
          OpError: if the address cannot be had.
        """
        return HostedDispatcher(host, port, settings, work_dir, record_dir, http, self._security)

    def start_worker(
        self,
        host: str,
        port: int,
        settings: WorkerSettings,
        producers: Producers | None = None,
        transfer: str | None = None,
        transfer_port: int | None = None,
        record_dir: str | None = None,
        http: HttpAddress | None = None,
    ) -> ServerNode:
        """A worker at ``host:port``; ``%port%`` in the settings' addresses stands for the port.

        Args:
          transfer: ``"grpc"`` for one that shares no memory with its readers.
          transfer_port: another port where it serves, ``%dts_port%`` in the settings; else that is the same one.
          http: where it answers HTTP; nowhere when not given.

        Raises:
          OpError: if an address cannot be had, or the dispatcher says at once that it does not take the worker.
        """
        transport = Nearby(self._connect_apart() if transfer == "grpc" else self._connect())
        pool = Pool() if producers is None else producers
        telemetry = WorkerTelemetry()
        watchers = telemetry.watchers(http)
        driver = Driver("the worker", transport, pool, recorder=_recorder(record_dir), watchers=watchers)
        port = driver.listen(host, port)
        try:
            http_port = telemetry.serve(driver, http, self._security)
            second = port if transfer_port is None else driver.listen(host, transfer_port)
        except OpError:
            driver.crash()
            raise

        def fill(address: str) -> str:
            return address.replace("%port%", str(port)).replace("%dts_port%", str(second))

        address = fill(settings.address)
        servers = tuple(replace(server, address=fill(server.address)) for server in settings.transfer_servers)
        settings = replace(settings, address=address, transfer_servers=servers)
        for name in dict.fromkeys((address, *(server.address for server in servers))):
            with suppress(AlreadyExistsError):  # two workers of one process under one name: neither is nearer
                transport.announce(Address(name))
        driver.begin(WorkerBirth(settings, _incarnation(), _seed()))
        node = ServerNode(driver, port, STOP_S + settings.quiet_ns / 1e9, http_port)
        refused = _refusal(node)
        if refused is not None:
            node.stop()
            raise to_exception(refused.prefixed("Failed to perform worker heartbeat"))
        return node

    def reader_metrics(self) -> str:
        """The metrics of all readers of this process."""
        return reader_metrics()

    def serve_reader_metrics(self, http: HttpAddress) -> HttpServer:
        """Answers HTTP for the readers of this process.

        Raises:
          OpError: if the address cannot be had.
        """
        return serve_reader_metrics(http, self._security)

    def nearby(self) -> tuple[str, ...]:
        """Addresses of the workers in this process."""
        return WORKERS.addresses

    def bind_task(self, host: str, port: int) -> BoundTask:
        """The port of a cluster's server, which serves once it is started.

        Raises:
          OpError: if the address cannot be had.
        """
        driver = Driver("the server", self._connect(), computers=GraphPool(), recorder=_recorder())
        port = driver.listen(host, port)
        return BoundTask(driver, port, lambda settings: TaskBirth(settings, _incarnation(), _seed()))

    def open_asker(self, settings: AskerSettings) -> AskerNode:
        """Puts questions to the masters of clusters."""
        name = f"session-{secrets.token_hex(8)}"
        driver = Driver("the session", self._connect(), recorder=_recorder())
        driver.begin(AskerBirth(name, Incarnation(1), _seed(), settings))
        return AskerNode(driver)

    def open_reader(self, request: ReadRequest, settings: ClientSettings, transfer: str | None = None) -> ReaderNode:
        """A reader; it opens its iteration in the background.

        Args:
          transfer: ``"grpc"`` for the network alone, ``"tfsvc"`` for that and memory shared with other processes of
            its host; else workers of its own process are called directly too.
        """
        name = f"reader-{secrets.token_hex(8)}"
        match transfer:
            case "grpc":
                way = self._connect_apart()
            case "tfsvc":
                way = self._connect()
            case _:
                way = Nearby(self._connect())
        watched = BOOK.watch(request.job_name)
        driver = Driver("the reader", way, recorder=_recorder(), watchers=reader_watchers(watched))
        driver.begin(ReaderBirth(request, settings, name, Incarnation(1), _seed()))
        keep_book(watched, driver)
        return ReaderNode(driver)

    def start_rpc_server(self, host: str, port: int, methods: Methods, settings: RpcServerSettings) -> ServerNode:
        """A server of registered functions at ``host:port``.

        Raises:
          OpError: if the address cannot be had.
        """
        driver = Driver("the RPC server", self._connect(), executor=ThreadExecutor(methods), recorder=_recorder())
        port = driver.listen(host, port)
        driver.begin(RpcServerBirth(tuple(methods.settings), settings, f"{host}:{port}", _incarnation(), _seed()))
        return ServerNode(driver, port)

    def open_rpc_caller(self, peer: str) -> RpcCallerNode:
        """A client of the RPC server at ``peer``, which need not be there yet."""
        name = f"rpc-client-{secrets.token_hex(8)}"
        driver = Driver("the RPC client", self._connect(), recorder=_recorder())
        driver.begin(RpcClientBirth(peer, name, Incarnation(1), _seed()))
        return RpcCallerNode(driver)

    def ask(self, peer: str, request: Request, patience_ns: int) -> Response:
        """One question, asked again after retriable failures until ``patience_ns`` have passed.

        Raises:
          OpError: if it was refused, or not answered in that time.
        """
        name = f"caller-{secrets.token_hex(8)}"
        call_timeout_ns = min(ClientSettings(peer).call_timeout_ns, patience_ns)
        caller = CallerBirth(name, Incarnation(1), _seed(), peer, request, call_timeout_ns, patience_ns)
        return ask(Driver("the caller", self._connect(), recorder=_recorder()), caller)


def grpc(security: Security | None = None) -> Nodes:
    """Nodes on a network; what ``security`` leaves open comes from the environment."""
    from tfsvc_transports.grpc.transport import GrpcTransport

    return Nodes(
        partial(GrpcTransport, security), partial(GrpcTransport, security, shares_memory=False), security=security
    )


def in_process(security: Security | None = None) -> Nodes:
    """Nodes within this process, which no other process reaches, so that there is nothing to secure."""
    return Nodes(InProcess, security=security)


def _refusal(worker: ServerNode) -> RpcError | None:
    """Why the dispatcher does not take a worker; ``None`` if it does, or cannot be asked at the moment."""
    until = time.monotonic() + REFUSAL_S
    while time.monotonic() < until:
        view = worker.view()
        assert isinstance(view, WorkerView), view
        if view.reported:
            return view.refused
        time.sleep(0.002)
    return None


def _incarnation() -> Incarnation:
    """Higher in each life of a node, as far as the clock of its machine goes forward."""
    return Incarnation(time.time_ns())


def _seed() -> int:
    """Of a life's luck."""
    return secrets.randbits(64)


def _recorder(record_dir: str | None = None) -> Recorder | None:
    """Records a node, if the configuration or the environment asks for it."""
    recording = wanted(record_dir)
    return None if recording is None else Recorder(recording)
