"""``tfsvc report``: the dashboard of this moment as one file, to be sent or kept."""

from __future__ import annotations

from pathlib import Path

import click

from tfsvc.errors import OpError
from tfsvc.service.controlling import chronicle, describe
from tfsvc_transports.dashboard.page import saved


@click.command()
@click.argument("dispatcher_address")
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False, path_type=Path), default="run.html", show_default=True,
    help="The file to write.",
)  # fmt: skip
@click.option("--note", default="", help="What it is about, for the heading.")
@click.option("--timeout", default=10.0, show_default=True, help="Seconds for which the dispatcher is waited for.")
def report(dispatcher_address: str, output: Path, note: str, timeout: float) -> None:
    """Saves what the dashboard of the dispatcher at DISPATCHER_ADDRESS shows, as one page that needs no server."""
    try:
        text = saved(
            dispatcher_address,
            describe(dispatcher_address, timeout=timeout),
            chronicle(dispatcher_address, timeout=timeout),
            note,
        )
        output.write_text(text, "utf-8")
    except (OpError, ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{output}: open it in any browser")
