"""``tfsvc drain``: a worker ends as soon as nothing is lost by that."""

from __future__ import annotations

import time
from typing import Final

import click

from tfsvc.protocol.messages.description import WorkerDescription
from tfsvc.service.controlling import drain_worker
from tfsvc.units import DURATION, show_duration
from tfsvc_transports.commands.exits import Late, asking
from tfsvc_transports.commands.output import console
from tfsvc_transports.commands.targets import ALL, described, dispatcher_option, timeout_option

LOOK_S: Final = 0.2
EXTRA_S: Final = 10.0
"""How long a worker may take to end, beyond its time to drain."""


@click.command()
@click.argument("worker")
@dispatcher_option
@click.option("--grace", type=DURATION, default="5m", show_default=True, help="When it ends all the same.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Whether to wait until it has ended.")
@timeout_option
def drain(worker: str, dispatcher: str, grace: float, wait: bool, timeout: float) -> None:
    """Has WORKER, named by its address as `tfsvc status` shows it, drain and end.

    It gets nothing new, other workers take over what they can, and it ends when nothing is lost by that. Exits with 4
    if it has not ended in time.
    """
    with asking(dispatcher):
        drain_worker(dispatcher, worker, grace, timeout)
    if not wait:
        click.echo(f"{worker} is told to drain")
        return
    began = time.monotonic()
    with console().status(f"{worker} drains") as shown:
        while (left := _found(dispatcher, worker, timeout)) is not None:
            if time.monotonic() - began > grace + EXTRA_S:
                raise Late(f"{worker} has not ended in {show_duration(grace + EXTRA_S)}; its state is {left.state!r}")
            if left.state == "live":  # as after a restart of the dispatcher, which has forgotten it
                with asking(dispatcher):
                    drain_worker(dispatcher, worker, max(0.0, grace - (time.monotonic() - began)), timeout)
            shown.update(f"{worker} drains: {left.tasks} tasks, {left.lanes} lanes")
            time.sleep(LOOK_S)
    click.echo(f"{worker} has left after {show_duration(time.monotonic() - began)}")


def _found(dispatcher: str, address: str, timeout: float) -> WorkerDescription | None:
    """The worker, unless it is gone or takes its leave."""
    for worker in described(dispatcher, timeout, ALL).workers:
        if worker.address == address and worker.state != "leaving":
            return worker
    return None
