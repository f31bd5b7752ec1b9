"""What the public classes need of the real world, and where they find it.

A backend belongs to a protocol name such as ``"grpc"``. It is found among the installed packages'
entry points of the group ``tfsvc.transports``, so that anybody can add one: a function from a ``Security`` to a
:class:`Backend`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import NamedTuple, Protocol

from tfsvc.errors import NotFoundError, RpcError
from tfsvc.execution.methods import Methods
from tfsvc.protocol.client.request import ReadRequest
from tfsvc.protocol.cluster.asker import AskerSettings
from tfsvc.protocol.cluster.desk import TaskSettings
from tfsvc.protocol.messages import Request, Response
from tfsvc.protocol.reading import Batch, Delivery, EndOfData, MakeUp, Taken
from tfsvc.protocol.rpc.settings import RpcServerSettings
from tfsvc.protocol.rpc.wishes import Wish
from tfsvc.protocol.settings import ClientSettings, DispatcherSettings, WorkerSettings
from tfsvc.service.security import Security

GROUP = "tfsvc.transports"


class HttpAddress(NamedTuple):
    """Where a node answers HTTP: a host of this machine, and a port, 0 for any free one."""

    host: str
    port: int


class Listening(Protocol):
    """Something that answers at a port."""

    @property
    def port(self) -> int: ...

    def close(self) -> None:
        """Frees the port. Safe to repeat."""
        ...


class Server(Protocol):
    """A machine that serves on a port."""

    @property
    def port(self) -> int:
        """The port it is bound to."""
        ...

    @property
    def http_port(self) -> int | None:
        """Where it answers HTTP; ``None`` where it does not."""
        ...

    def stop(self) -> None:
        """Ends it in good order within two seconds; the port is free afterwards."""
        ...

    def join(self, timeout: float | None = None) -> bool:
        """Waits until it has stopped; false after ``timeout`` seconds."""
        ...


class Worker(Server, Protocol):
    """A worker of the data service."""

    def drain(self, grace_s: float) -> bool:
        """Ends it as soon as nothing is lost by that, or after ``grace_s``; whether nothing was lost."""
        ...


class Reader(Protocol):
    """A client machine as its application sees it. One thread at a time may use it."""

    def next_batch(self, taken: Sequence[Taken]) -> Batch | MakeUp | EndOfData:
        """Waits for the next elements; ``taken`` tells what was consumed of those before.

        Raises:
          OpError: if nothing more can be read.
        """
        ...

    def look(self, taken: Callable[[], tuple[Taken, ...]]) -> None:
        """Has ``taken`` asked on any thread, now and then, for what was consumed since: for counts alone."""
        ...

    def close(self, taken: Sequence[Taken], *, wait: bool = True) -> None:
        """Gives back what was not consumed. Further calls do nothing."""
        ...


class Bound(Protocol):
    """A bound port where a cluster's server will be."""

    @property
    def port(self) -> int: ...

    def start(self, settings: TaskSettings) -> Server:
        """Serves; what was asked since the port was bound is answered now."""
        ...

    def close(self) -> None:
        """Frees the port of a server that was never started."""
        ...


class Asking(Protocol):
    """Puts questions to the masters of clusters. Any number of threads may use it."""

    def ask(self, peer: str, request: Request, timeout_ns: int | None = None) -> Response:
        """What ``peer`` answers.

        Raises:
          OpError: if the question was refused, or not answered in time, or the peer is gone.
        """
        ...

    def close(self, *, wait: bool = True) -> None:
        """Ends all waits. Safe to repeat; without ``wait`` also in a finalizer."""
        ...


class Result(Protocol):
    """What was wanted of an RPC client, once it is there."""

    token: int

    def wait(self) -> Delivery | RpcError | None:
        """Waits for it; Ctrl-C interrupts the wait, which may be begun again. Gives it once."""
        ...

    def notify(self, then: Callable[[], None]) -> None:
        """Calls ``then`` on some thread when it is there."""
        ...


class RpcCaller(Protocol):
    """An RPC client machine as its application sees it; any number of threads may use it."""

    def want(self, wish: Wish) -> Result:
        """Hands in a wish, and returns at once."""
        ...

    def close(self, *, wait: bool = True) -> None:
        """Gives up all calls. Further calls do nothing."""
        ...


class Backend(Protocol):
    """One way to reach other nodes."""

    def start_dispatcher(
        self,
        host: str,
        port: int,
        settings: DispatcherSettings,
        work_dir: str | None = None,
        *,
        record_dir: str | None = None,
        http: HttpAddress | None = None,
    ) -> Server:
        """A dispatcher; with a ``work_dir`` it goes on with what an earlier one left there."""
        ...

    def host_dispatcher(
        self,
        host: str,
        port: int,
        settings: DispatcherSettings,
        work_dir: str | None = None,
        *,
        record_dir: str | None = None,
        http: HttpAddress | None = None,
    ) -> Server:
        """The same in a process of its own, which ends with this one."""
        ...

    def start_worker(
        self,
        host: str,
        port: int,
        settings: WorkerSettings,
        *,
        transfer: str | None = None,
        transfer_port: int | None = None,
        record_dir: str | None = None,
        http: HttpAddress | None = None,
    ) -> Worker:
        """``%port%`` in the settings' addresses stands for the port that was bound, ``%dts_port%`` for the second one.

        With the ``transfer`` ``"grpc"`` it shares no memory with its readers.
        """
        ...

    def reader_metrics(self) -> str:
        """The metrics of all readers of this process, as Prometheus's text."""
        ...

    def serve_reader_metrics(self, http: HttpAddress) -> Listening:
        """Answers HTTP for the readers of this process.

        Raises:
          OpError: if the address cannot be had.
        """
        ...

    def nearby(self) -> tuple[str, ...]:
        """Addresses of the workers in this process."""
        ...

    def bind_task(self, host: str, port: int) -> Bound:
        """The port of a cluster's server."""
        ...

    def open_asker(self, settings: AskerSettings) -> Asking: ...

    def open_reader(self, request: ReadRequest, settings: ClientSettings, transfer: str | None = None) -> Reader:
        """A reader; ``transfer`` is ``"grpc"`` for the network alone, ``"tfsvc"`` for that and memory shared with other
        processes of its host; else workers of its own process are called directly too.
        """
        ...

    def start_rpc_server(self, host: str, port: int, methods: Methods, settings: RpcServerSettings) -> Server:
        """A server of registered functions."""
        ...

    def open_rpc_caller(self, peer: str) -> RpcCaller:
        """A client of the RPC server at ``peer``, which need not be there yet."""
        ...

    def ask(self, peer: str, request: Request, patience_ns: int) -> Response:
        """One question, asked again after retriable failures until ``patience_ns`` have passed.

        Raises:
          OpError: if it was refused, or not answered in that time.
        """
        ...


class Service(NamedTuple):
    """Where a dispatcher is, and how it is reached."""

    protocol: str
    address: str
    security: Security | None = None

    def backend(self) -> Backend:
        """What reaches it."""
        return backend(self.protocol, self.security)

    def ask(self, request: Request, patience_ns: int) -> Response:
        """As :meth:`Backend.ask`."""
        return self.backend().ask(self.address, request, patience_ns)


def backend(protocol: str, security: Security | None = None) -> Backend:
    """The backend of a protocol name.

    Args:
      security: how its nodes show who they are, and whom they let in; as the environment says when not given.

    Raises:
      NotFoundError: if no installed package offers it.
      InvalidArgumentError: if ``security`` contradicts itself.
    """
    return _backend(protocol, (security or Security()).resolved())


@cache
def _backend(protocol: str, security: Security) -> Backend:
    found = {point.name: point for point in entry_points(group=GROUP)}
    if protocol not in found:
        raise NotFoundError(
            message=f"No credentials factory has been registered for protocol {protocol}. "
            f"Known protocols are {', '.join(sorted(found)) or 'none: is tfsvc installed?'}."
        )
    made: Backend = found[protocol].load()(security)
    return made
