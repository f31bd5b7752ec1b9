"""``tfsvc replay``: recordings of real nodes played again, shown, and made into tests."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from pathlib import Path

import click

from tfsvc.errors import OpError
from tfsvc_sim import page
from tfsvc_sim.flight.incident import write_test
from tfsvc_sim.flight.replaying import Replay, find


class _UnreadableError(click.ClickException):
    """There is no recording, or it cannot be used."""

    exit_code = 2


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--page", "page_path", type=click.Path(path_type=Path), help="Write the page of the run there.")
@click.option("--perfetto", type=click.Path(path_type=Path), help="Write a trace for Perfetto there.")
@click.option(
    "--to-test", type=click.Path(path_type=Path), help="Write a pytest that replays them; copies lie beside it."
)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@click.option("--partial", is_flag=True, help="Take what lies before damage, as at the end of a killed process's file.")
@click.option("--trust", is_flag=True, help="Run pickled machines, of files whose beginning the ring has dropped.")
def replay(
    paths: tuple[Path, ...],
    page_path: Path | None,
    perfetto: Path | None,
    to_test: Path | None,
    show: bool,
    partial: bool,
    trust: bool,
) -> None:
    """Plays recordings again: files that nodes wrote with --record, or directories of them.

    Exits with 1 if a machine says something else than it said then, or an oracle disagrees, and with 2 if a file cannot
    be read.
    """
    try:
        lives = find(paths, partial)
        recording, replays = page.recording_of(lives, trust=trust)
        for found in replays:
            for line in _lines(found):
                click.echo(line)
        if show and page_path is None:
            page_path = Path("replay.html")
        if page_path is not None:
            click.echo(f"page: {page.write(recording, page_path)}")
        if perfetto is not None:
            click.echo(f"trace: {page.write_trace(recording, perfetto)}")
        if to_test is not None:
            click.echo(f"test: {write_test(lives, to_test)}")
    except (OpError, OSError) as error:
        raise _UnreadableError(error.message if isinstance(error, OpError) else str(error)) from error
    if show and page_path is not None:
        webbrowser.open(page_path.resolve().as_uri())
    if not all(found.good for found in replays):
        raise SystemExit(1)


def _lines(found: Replay) -> Sequence[str]:
    taken = f", {len(found.takings):,} elements given" if found.takings else ""
    lines = [f"{found.life}: {found.events:,} events{taken}, {'the same again' if found.good else 'NOT as it was'}"]
    lines += [f"  {text}" for text in (found.difference, *found.problems) if text]
    if found.life.damage is not None:
        lines.append(f"  up to damage: {found.life.damage}")
    return lines
