"""``tfsvc snapshot``: how far distributed snapshots are."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Final

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from tfsvc.protocol import messages as m
from tfsvc.service.backend import backend
from tfsvc.service.config import split_target
from tfsvc.service.discovery import DISPATCHER_VARIABLE
from tfsvc.storage.distributed import survey
from tfsvc.storage.folders import absolute, folder_at
from tfsvc_transports.commands.credentials import credentials
from tfsvc_transports.commands.exits import BAD, FINE, asking, refusals_told
from tfsvc_transports.commands.output import console, json_option, say_json, table
from tfsvc_transports.commands.targets import described, timeout_option

LOOK_S: Final = 0.5
_ENDED: Final = ("done", "failed")


@dataclass(frozen=True)
class Stream:
    """A worker's part; ``worker_address`` and ``state`` are known by the dispatcher alone."""

    index: int
    chunks: int
    elements: int
    worker_address: str = ""
    state: str = ""


@dataclass(frozen=True)
class Progressing:
    """How far a snapshot is; the splits are known by the dispatcher alone."""

    path: str
    state: str
    error: str
    elements: int
    chunks: int
    streams: tuple[Stream, ...]
    splits: int | None = None
    splits_total: int | None = None


@click.command()
@click.argument("path", required=False)
@click.option(
    "-d",
    "--dispatcher",
    envvar=DISPATCHER_VARIABLE,
    metavar="ADDRESS",
    help=f"Who has it written; or {DISPATCHER_VARIABLE}.",
)
@click.option("--follow", is_flag=True, help="Wait for its end.")
@timeout_option
@json_option
@credentials
def snapshot(path: str | None, dispatcher: str | None, follow: bool, timeout: float, as_json: bool) -> None:
    """Shows how far the distributed snapshot in PATH is, and its streams.

    With a dispatcher it is asked, which knows most; without one, the directory or bucket itself is looked at. Without
    PATH all snapshots of the dispatcher are listed. Exits with 1 if one has failed.
    """
    if path is None:
        if dispatcher is None:
            raise click.UsageError(f"Name a PATH, or a dispatcher (--dispatcher, {DISPATCHER_VARIABLE}).")
        sys.exit(_list(dispatcher, timeout, as_json))
    found = _look(path, dispatcher, timeout)
    if follow:
        found = _follow(path, dispatcher, timeout, found)
    if as_json:
        say_json(asdict(found))
    else:
        _show(found)
    sys.exit(BAD if found.state == "failed" else FINE)


def _list(dispatcher: str, timeout: float, as_json: bool) -> int:
    found = described(dispatcher, timeout).snapshots
    if as_json:
        say_json({"dispatcher": dispatcher, "snapshots": [asdict(each) for each in found]})
    elif found:
        rows = [
            (
                s.path,
                s.state,
                f"{s.streams_done} of {s.streams}",
                f"{s.chunks}",
                f"{s.elements}",
                _of(s.splits, s.splits_total),
                s.error,
            )
            for s in found
        ]
        columns = ("snapshot", "state", "streams done", "chunks", "elements", "splits", "error")
        console().print(table("", columns, rows, ("chunks", "elements")))
    else:
        click.echo("no snapshots")
    return BAD if any(each.state == "failed" for each in found) else FINE


def _of(splits: int | None, total: int | None) -> str:
    return "?" if splits is None else f"{splits} of {'?' if total is None else total}"


def _look(path: str, dispatcher: str | None, timeout: float) -> Progressing:
    if dispatcher is None:
        with refusals_told():
            seen = survey(folder_at(absolute(path)))
        streams = tuple(Stream(s.index, s.chunks, s.elements) for s in seen.streams)
        return _sum(path, seen.state, seen.error, streams)
    with asking(dispatcher):
        protocol, address = split_target(dispatcher)
        request = m.GetSnapshotStreamsRequest(absolute(path))
        answer = backend(protocol).ask(address, request, int(timeout * 1e9))
    assert isinstance(answer, m.GetSnapshotStreamsResponse)
    streams = tuple(
        Stream(s.index, s.chunks, s.elements, s.worker_address, s.state.name.lower()) for s in answer.streams
    )
    state = "failed" if answer.error is not None else "done" if answer.ended else "writing"
    error = "" if answer.error is None else answer.error.message
    return _sum(path, state, error, streams, answer.splits, answer.splits_total)


def _sum(
    path: str,
    state: str,
    error: str,
    streams: tuple[Stream, ...],
    splits: int | None = None,
    splits_total: int | None = None,
) -> Progressing:
    elements, chunks = sum(s.elements for s in streams), sum(s.chunks for s in streams)
    return Progressing(path, state, error, elements, chunks, streams, splits, splits_total)


def _follow(path: str, dispatcher: str | None, timeout: float, found: Progressing) -> Progressing:
    """Looks again until the end; draws a bar on a terminal alone."""
    out = console()
    bar = Progress(TextColumn("{task.description}"), BarColumn(40), MofNCompleteColumn(), console=out, transient=True)
    with bar if out.is_terminal else nullcontext():
        task = bar.add_task("splits", total=None)
        while found.state not in _ENDED:
            bar.update(task, completed=found.splits or 0, total=found.splits_total)
            time.sleep(LOOK_S)
            found = _look(path, dispatcher, timeout)
    return found


def _show(found: Progressing) -> None:
    out = console()
    splits = "" if found.splits is None else f", {_of(found.splits, found.splits_total)} splits handed out"
    out.print(f"{found.path}: {found.state}, {found.elements} elements in {found.chunks} chunks{splits}", markup=False)
    if found.error:
        out.print(f"it has failed: {found.error}", markup=False)
    rows = [
        (str(s.index), s.worker_address or "?", s.state or "?", f"{s.chunks}", f"{s.elements}") for s in found.streams
    ]
    out.print(table("", ("stream", "worker", "state", "chunks", "elements"), rows, ("chunks", "elements")))
