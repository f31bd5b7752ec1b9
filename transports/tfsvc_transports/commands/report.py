"""``tfsvc report``: the dashboard of this moment as one file, to be sent or kept."""

from __future__ import annotations

from pathlib import Path

import click

from tfsvc.service.controlling import chronicle, describe
from tfsvc_transports.commands.exits import Refused, asking
from tfsvc_transports.commands.targets import dispatcher_argument, timeout_option
from tfsvc_transports.dashboard.page import saved


@click.command()
@dispatcher_argument
@click.option("-o", "--output", default="run.html", show_default=True, metavar="FILE", help="The file to write.")
@click.option("--note", default="", help="What it is about, for the heading.")
@timeout_option
def report(dispatcher: str, output: str, note: str, timeout: float) -> None:
    """Saves what the dashboard of DISPATCHER shows, as one page that needs neither server nor network.

    It has the names of datasets, jobs and machines in it, and no element.
    """
    with asking(dispatcher):
        description = describe(dispatcher, timeout=timeout)
        course = chronicle(dispatcher, timeout=timeout)
    try:
        Path(output).write_text(saved(dispatcher, description, course, note), "utf-8")
    except OSError as error:
        raise Refused(f"{output} cannot be written: {error.strerror}") from error
    click.echo(f"{output}: open it in any browser")
