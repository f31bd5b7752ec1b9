"""``tfsvc worker``: one worker, until it is told to end."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from tfsvc.service.config import WorkerConfig
from tfsvc.service.servers import WorkerServer
from tfsvc_transports.commands.exits import refusals_told
from tfsvc_transports.commands.serving import serve
from tfsvc_transports.commands.settings_options import settings_options
from tfsvc_transports.configuration.layers import Effective, fields
from tfsvc_transports.configuration.settings import WORKER
from tfsvc_transports.logs import log_options


@click.command()
@log_options
@settings_options(WORKER)
@click.option("--with-parent", is_flag=True, help="End when standard input ends.")
def worker(effective: Mapping[str, Effective], with_parent: bool) -> None:
    """Runs a worker of the dispatcher at DISPATCHER_ADDRESS.

    The first INT or TERM drains it: it goes on for --drain at the most, until nothing is lost by its end. The second
    ends it at once, with the signal's exit code.

    Every setting may also be in the environment (TFSVC_WORKER__PORT) or in a file (--config); `tfsvc check-config
    worker` tells which counts.
    """
    with refusals_told():
        server = WorkerServer(WorkerConfig(**{"dispatcher_address": "", **fields(effective)}))
    address = effective["dispatcher_address"].value
    click.echo(f"worker on port {server.port} of the dispatcher at {address}")
    if server.http_address is not None:
        click.echo(f"metrics at {server.http_address}/metrics")
    sys.exit(serve(server, effective["drain"].value, with_parent))
