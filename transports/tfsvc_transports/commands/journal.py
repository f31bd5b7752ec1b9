"""``tfsvc journal``: a dispatcher's journal, made readable and checked."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import asdict, fields, is_dataclass
from enum import Enum
from typing import Any, Final, NamedTuple

import click

from tfsvc.errors import DataLossError, NotFoundError, OpError
from tfsvc.protocol.dispatcher.state import DispatcherState
from tfsvc.protocol.updates import Update
from tfsvc.wire.segments import Segment, decode_segment, plan
from tfsvc_transports.places import open_shelf
from tfsvc_transports.segment_store import Found, read_journal
from tfsvc_transports.shelf import Shelf

TRIES: Final = 8
"""How often a journal is read again that a dispatcher is compacting at this moment."""
SHOWN: Final = 24
"""So many bytes of what is opaque are shown to people."""


class Readable(NamedTuple):
    """An object of a journal, or why it cannot be read."""

    name: str
    segment: Segment | None
    problem: str


class _Unusable(click.ClickException):
    """There is no journal, or it cannot be had."""

    exit_code = 2


@click.group()
def journal() -> None:
    """Shows and checks a dispatcher's journal.

    PATH is the work_dir of the dispatcher: a directory or the URL of a bucket. A directory can be read while no
    dispatcher uses it, a bucket always.
    """


@journal.command()
@click.argument("path")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def dump(path: str, as_json: bool) -> None:
    """Prints the records of the journal in PATH, those of its snapshot first.

    Exits with 1 if something in it cannot be read, after printing what can, and with 2 if there is no journal.
    """
    shelf = _open(path)
    try:
        broken = False
        for readable in _walk(shelf):
            broken = broken or readable.segment is None
            for line in _json_lines(readable) if as_json else _lines(readable):
                click.echo(line)
    except OpError as error:
        raise _failed(error) from error
    finally:
        shelf.close()
    if broken:
        raise SystemExit(1)


@journal.command()
@click.argument("path")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def verify(path: str, as_json: bool) -> None:
    """Says whether the journal in PATH is whole, and what is open in it.

    Exits with 0 if a dispatcher could go on with it, with 1 if it is damaged, and with 2 if there is none.
    """
    shelf = _open(path)
    try:
        found = _read(shelf)
        said = {"journal": path, "whole": True, **_facts(found)}
    except DataLossError as error:
        said = {"journal": path, "whole": False, "problem": error.message, "readable": _readable(shelf)}
    except OpError as error:
        raise _failed(error) from error
    finally:
        shelf.close()
    if as_json:
        click.echo(json.dumps(said))
    else:
        for name, value in said.items():
            click.echo(f"{name.replace('_', ' ')}: {_words(value)}")
    if not said["whole"]:
        raise SystemExit(1)


def _open(path: str) -> Shelf:
    try:
        return open_shelf(path, create=False)
    except OpError as error:
        raise _failed(error) from error


def _failed(error: OpError) -> click.ClickException:
    return click.ClickException(error.message) if isinstance(error, DataLossError) else _Unusable(error.message)


def _read(shelf: Shelf) -> Found:
    for _ in range(TRIES - 1):
        try:
            return read_journal(shelf)
        except NotFoundError:
            continue
    return read_journal(shelf)


def _facts(found: Found) -> dict[str, Any]:
    state = DispatcherState()
    for update in found.updates:
        state.apply(update)
    return {
        "segments": found.number,
        "records": found.records,
        "records_to_recover": found.snapshot + found.tail,
        "last_written_by": found.owner or "nobody",
        "datasets": len(state.datasets),
        "workers": list(state.workers),
        "named_jobs": [job.name for job in state.jobs.values() if not job.anonymous],
        "open_iterations": len(state.iterations),
        "readers": len(state.clients),
        "open_lanes": len(state.lanes),
        "leased_splits": sum(s.size for lane in state.lanes.values() for x in lane.leases.values() for s in x.spans),
    }


def _readable(shelf: Shelf) -> str:
    """How much of a damaged journal is there, and what is the first object that is not."""
    good = 0
    try:
        for readable in _walk(shelf):
            if readable.segment is None:
                return f"{good} records before {readable.name}"
            good += len(readable.segment.updates)
    except OpError as error:
        return f"{good} records before: {error.message}"
    return f"{good} records, and every segment by itself"


def _walk(shelf: Shelf) -> Iterator[Readable]:
    found = plan(shelf.names(), shelf.where)
    for name in map(str, (*found.snapshot, *found.logs)):
        try:
            (body,) = shelf.get([name])
            yield Readable(name, decode_segment(body), "")
        except (DataLossError, NotFoundError) as error:
            yield Readable(name, None, error.message)


def _lines(readable: Readable) -> Iterator[str]:
    if readable.segment is None:
        yield f"{readable.name}  CANNOT BE READ: {readable.problem}"
        return
    yield f"{readable.name}  by {readable.segment.owner}"
    for number, update in _numbered(readable):
        told = " ".join(f"{field.name}={_words(getattr(update, field.name))}" for field in fields(update))
        yield f"{number:>12}  {type(update).__name__:<17} {told}"


def _json_lines(readable: Readable) -> Iterator[str]:
    if readable.segment is None:
        yield json.dumps({"segment": readable.name, "problem": readable.problem})
        return
    for number, update in _numbered(readable):
        record = {"segment": readable.name, "number": number, "kind": type(update).__name__, **asdict(update)}
        yield json.dumps(record, default=_plain)


def _plain(value: object) -> str:
    """A value that JSON does not know."""
    assert isinstance(value, bytes | Enum)
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value.name


def _numbered(readable: Readable) -> Iterator[tuple[int | None, Update]]:
    """Records with their numbers; those of a snapshot stand for others and have none."""
    assert readable.segment is not None
    for number, update in enumerate(readable.segment.updates, readable.segment.first + 1):
        yield (number if readable.name.startswith("log/") else None), update


def _words(value: object) -> str:
    """A value as people read it."""
    if isinstance(value, bytes):
        return repr(value) if len(value) <= SHOWN else f"{value[:SHOWN]!r}... ({len(value)} bytes)"
    if is_dataclass(value) and not isinstance(value, type):
        inside = ", ".join(f"{field.name}={_words(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__}({inside})"
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_words, value))}]"
    return f"{value}"
