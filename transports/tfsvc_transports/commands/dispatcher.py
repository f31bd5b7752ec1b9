"""``tfsvc dispatcher``: one dispatcher, until it is told to end."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from tfsvc.service.config import DispatcherConfig
from tfsvc.service.servers import DispatchServer
from tfsvc_transports.commands.exits import refusals_told
from tfsvc_transports.commands.serving import serve
from tfsvc_transports.commands.settings_options import settings_options
from tfsvc_transports.configuration.layers import Effective, fields
from tfsvc_transports.configuration.settings import DISPATCHER
from tfsvc_transports.logs import log_options


@click.command()
@log_options
@settings_options(DISPATCHER)
def dispatcher(effective: Mapping[str, Effective]) -> None:
    """Runs a dispatcher: it coordinates workers and readers.

    INT or TERM ends it in good order. With --work-dir, one that is started again goes on where it was.

    Every setting may also be in the environment (TFSVC_DISPATCHER__PORT) or in a file (--config); `tfsvc check-config
    dispatcher` tells which counts.
    """
    with refusals_told():
        server = DispatchServer(DispatcherConfig(**fields(effective)))
    click.echo(f"dispatcher at {server.target}")
    if server.http_address is not None:
        click.echo(f"dashboard at {server.http_address}/")
    sys.exit(serve(server))
