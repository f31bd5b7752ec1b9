"""``tfsvc dispatcher`` and ``tfsvc worker``: one server a process, until it is told to end."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Final

import click

from tfsvc.errors import OpError
from tfsvc.service.config import DispatcherConfig, WorkerConfig
from tfsvc.service.servers import DispatchServer, WorkerServer

LOOK_S: Final = 0.2
"""How often a server looks whether it was told to end."""


def _serve_until_told(server: DispatchServer | WorkerServer) -> None:
    """Waits for INT, TERM or the end of a parent that asked for it, and stops in good order."""
    told = threading.Event()

    def end(signum: int, frame: FrameType | None) -> None:
        told.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    try:
        while not told.is_set() and not server.join(LOOK_S):
            pass
    except OpError as error:
        raise click.ClickException(error.message) from error
    server.stop()


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
def dispatcher(port: int, host: str, insecure: bool, work_dir: str | None, record: str | None) -> None:
    """Runs a dispatcher: it coordinates workers and readers."""
    keeps = work_dir is not None
    try:
        server = DispatchServer(
            DispatcherConfig(
                port=port,
                host=host,
                insecure=insecure,
                work_dir=work_dir,
                fault_tolerant_mode=keeps,
                record_dir=record,
            )
        )
    except (OpError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"dispatcher at {server.target}")
    _serve_until_told(server)


@click.command()
@click.argument("dispatcher_address")
@click.option("--port", default=0, help="The port to bind; any free one when not given.")
@click.option("--host", default="localhost", show_default=True, help="The interface to bind.")
@click.option("--advertise", help="Where readers reach this worker, as host:%port%.")
@click.option("--insecure", is_flag=True, help="Allow an interface that other machines reach.")
@click.option("--with-parent", is_flag=True, help="End when standard input ends.")
@click.option("--record", metavar="DIR", help="Record what it is told and says there, for `tfsvc replay`.")
def worker(
    dispatcher_address: str,
    port: int,
    host: str,
    advertise: str | None,
    insecure: bool,
    with_parent: bool,
    record: str | None,
) -> None:
    """Runs a worker of the dispatcher at DISPATCHER_ADDRESS."""
    try:
        server = WorkerServer(
            WorkerConfig(
                dispatcher_address,
                worker_address=advertise,
                port=port,
                host=host,
                insecure=insecure,
                record_dir=record,
            )
        )
    except (OpError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"worker on port {server.port} of the dispatcher at {dispatcher_address}")
    if with_parent:
        _end_with_parent()
    _serve_until_told(server)
