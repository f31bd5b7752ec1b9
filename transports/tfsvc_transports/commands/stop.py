"""``tfsvc stop``: the whole service ends."""

from __future__ import annotations

import click

from tfsvc.service.controlling import stop_service
from tfsvc.units import DURATION
from tfsvc_transports.commands.exits import asking
from tfsvc_transports.commands.targets import dispatcher_argument


@click.command()
@dispatcher_argument
@click.option("--grace", type=DURATION, default="30s", show_default=True, help="How long workers that are read go on.")
def stop(dispatcher: str, grace: float) -> None:
    """Ends all workers of DISPATCHER, and then the dispatcher."""
    with asking(dispatcher):
        stop_service(dispatcher, grace)
