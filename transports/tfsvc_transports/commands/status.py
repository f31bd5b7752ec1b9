"""``tfsvc status``: a cluster at a glance, and what is wrong with it."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from typing import Final

import click
from rich.console import Console
from rich.markup import escape

from tfsvc.protocol.messages import Description
from tfsvc.units import show_duration
from tfsvc_transports.commands.exits import BAD, FINE, Late
from tfsvc_transports.commands.output import console, json_option, say_json, table
from tfsvc_transports.commands.targets import ALL, described, dispatcher_argument, timeout_option
from tfsvc_transports.commands.verdict import problems

LOOK_S: Final = 0.1


@click.command()
@dispatcher_argument
@click.option("--workers", type=click.IntRange(1), help="Wait, for --timeout at the most, until so many are there.")
@timeout_option
@json_option
def status(dispatcher: str, workers: int | None, timeout: float, as_json: bool) -> None:
    """Shows who is in the cluster of DISPATCHER, and what is wrong.

    Exits with 0 if all is well, with 1 if something is not, with 3 if the dispatcher cannot be reached, and with 4 if
    there are not so many --workers in time.
    """
    description = described(dispatcher, timeout) if workers is None else _await(dispatcher, workers, timeout)
    wrong = problems(description)
    if as_json:
        say_json({"dispatcher": dispatcher, "problems": wrong, **asdict(description)})
    else:
        _show(console(), dispatcher, description, wrong)
    sys.exit(BAD if wrong else FINE)


def _await(dispatcher: str, workers: int, timeout: float) -> Description:
    """Looks until so many workers are there."""
    until = time.monotonic() + timeout
    while True:
        description = described(dispatcher, max(LOOK_S, until - time.monotonic()), ALL)
        live = sum(worker.state == "live" for worker in description.workers)
        if live >= workers:
            return description
        if time.monotonic() >= until:
            raise Late(f"{live} of {workers} workers are there after {show_duration(timeout)}")
        time.sleep(LOOK_S)


def _show(out: Console, dispatcher: str, told: Description, wrong: list[str]) -> None:
    census = told.census
    out.print(
        f"[bold]dispatcher {escape(dispatcher)}[/] up {show_duration(told.up_ns / 1e9)}"
        f"{', stopping' if told.stopping else ''}"
    )
    wanted = "" if told.recommended_workers is None else f" ({told.recommended_workers} would keep all readers busy)"
    out.print(
        f"{census.workers} workers{wanted}, {census.jobs} jobs, {census.iterations} open iterations, "
        f"{census.readers} readers, {census.lanes} open lanes, {census.snapshots} snapshots"
    )
    if told.workers:
        rows = [
            (w.address, w.state, heard(w.silent_ns), str(w.tasks), str(w.lanes), str(w.leased), ", ".join(w.tags))
            for w in told.workers
        ]
        columns = ("worker", "state", "heard", "tasks", "lanes", "splits", "tags")
        out.print(table("", columns, rows, ("tasks", "lanes", "splits")))
    if len(told.workers) < census.workers:
        out.print(f"... and {census.workers - len(told.workers)} workers more")
    for text in wrong:
        out.print(f"[red]problem:[/] {escape(text)}")


def heard(silent_ns: int | None) -> str:
    """How long ago somebody was heard."""
    return "not yet" if silent_ns is None else f"{show_duration(silent_ns / 1e9)} ago"
