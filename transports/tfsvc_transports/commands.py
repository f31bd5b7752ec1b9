"""``tfsvc dispatcher`` and ``tfsvc worker``: one server a process, until it is told to end; ``tfsvc stop``: all."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

import click

from tfsvc.errors import OpError
from tfsvc.service.config import DispatcherConfig, WorkerConfig
from tfsvc.service.controlling import stop_service
from tfsvc.service.discovery import DISPATCHER_VARIABLE
from tfsvc.service.servers import DispatchServer, WorkerServer

LOOK_S: Final = 0.2
"""How often a server looks whether it was told to end."""


@contextmanager
def _refusals_told() -> Iterator[None]:
    """Ends the command with what was refused, in words."""
    try:
        yield
    except (OpError, ValueError) as error:
        raise click.ClickException(str(error)) from error


def _serve_until_told(server: DispatchServer | WorkerServer) -> bool:
    """Waits for INT, TERM, the end of a parent that asked for it, or the server's own end; whether it was told."""
    told = threading.Event()

    def end(signum: int, frame: FrameType | None) -> None:
        told.set()
        signal.signal(signum, signal.SIG_DFL)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    with _refusals_told():
        while not told.is_set() and not server.join(LOOK_S):
            pass
    return told.is_set()


def _end_with_parent() -> None:
    """Ends this process when its standard input does, which the parent holds."""

    def watch() -> None:
        sys.stdin.buffer.read()
        signal.raise_signal(signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


@click.command()
@click.option("--port", default=5050, show_default=True, help="The port to bind; 0 for any free one.")
@click.option("--host", default="localhost", show_default=True, help="The interface to bind.")
@click.option("--insecure", is_flag=True, help="Allow an interface that other machines reach.")
@click.option("--work-dir", help="A directory or a bucket for the journal: a dispatcher started again with it goes on.")
@click.option("--record", metavar="DIR", help="Record what it is told and says there, for `tfsvc replay`.")
@click.option("--exit-when-idle", type=float, help="Seconds without readers after which the whole service ends.")
@click.option("--address-file", metavar="FILE", help="Write there where it is; others find it by file:FILE.")
@click.option("--advertise", help="Where others reach it, as host:%port%, for --address-file.")
def dispatcher(
    port: int,
    host: str,
    insecure: bool,
    work_dir: str | None,
    record: str | None,
    exit_when_idle: float | None,
    address_file: str | None,
    advertise: str | None,
) -> None:
    """Runs a dispatcher: it coordinates workers and readers."""
    keeps = work_dir is not None
    with _refusals_told():
        config = DispatcherConfig(
            port=port,
            host=host,
            insecure=insecure,
            work_dir=work_dir,
            fault_tolerant_mode=keeps,
            record_dir=record,
            exit_when_idle_ms=_milliseconds(exit_when_idle),
            address_file=address_file,
            advertise=advertise,
        )
        server = DispatchServer(config)
    click.echo(f"dispatcher at {server.target}")
    _serve_until_told(server)
    server.stop()


@click.command()
@click.argument("dispatcher_address", envvar=DISPATCHER_VARIABLE)
@click.option("--port", default=0, help="The port to bind; any free one when not given.")
@click.option("--host", default="localhost", show_default=True, help="The interface to bind.")
@click.option("--advertise", help="Where readers reach this worker, as host:%port%.")
@click.option("--insecure", is_flag=True, help="Allow an interface that other machines reach.")
@click.option("--with-parent", is_flag=True, help="End when standard input ends.")
@click.option("--record", metavar="DIR", help="Record what it is told and says there, for `tfsvc replay`.")
@click.option("--tag", "tags", multiple=True, help="A label for placement; may be given more than once.")
@click.option("--drain", default=0.0, help="Seconds for which it goes on, when told to end, so that nothing is lost.")
@click.option("--exit-when-idle", type=float, help="Seconds without a task after which it ends.")
def worker(
    dispatcher_address: str,
    port: int,
    host: str,
    advertise: str | None,
    insecure: bool,
    with_parent: bool,
    record: str | None,
    tags: tuple[str, ...],
    drain: float,
    exit_when_idle: float | None,
) -> None:
    """Runs a worker of the dispatcher at DISPATCHER_ADDRESS, or at TFSVC_DISPATCHER where none is given.

    The first INT or TERM ends it in good order, the second at once.
    """
    with _refusals_told():
        config = WorkerConfig(
            dispatcher_address,
            worker_address=advertise,
            port=port,
            host=host,
            insecure=insecure,
            worker_tags=tags,
            record_dir=record,
            exit_when_idle_ms=_milliseconds(exit_when_idle),
        )
        server = WorkerServer(config)
    click.echo(f"worker on port {server.port} of the dispatcher at {dispatcher_address}")
    if with_parent:
        _end_with_parent()
    if _serve_until_told(server) and drain:
        server.drain(drain)
    server.stop()


@click.command()
@click.argument("dispatcher_address", envvar=DISPATCHER_VARIABLE)
@click.option("--grace", default=30.0, show_default=True, help="Seconds for which workers that are read from go on.")
def stop(dispatcher_address: str, grace: float) -> None:
    """Ends all workers of the dispatcher at DISPATCHER_ADDRESS, and then the dispatcher."""
    with _refusals_told():
        stop_service(dispatcher_address, grace)


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds * 1000)
