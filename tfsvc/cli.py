"""``tfsvc``: one root command; installed packages add theirs as entry points.

The group ``tfsvc.commands`` holds click commands, ``tfsvc.demo`` the parts of the demonstration: each a
function of the files to read and the tally to hold its own against, which returns whether all went well.
"""

from __future__ import annotations

import sys
import time
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

import tfsvc
from tfsvc.examples.tally import plain_loop
from tfsvc.examples.tokens import standard_library

DEMO_PARTS = ("real", "simulated")
INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ends, as a shell has it."""


class _Commands(click.Group):
    """Its own commands and those of installed packages, of which each is loaded when it is needed."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *_points()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        point = _points().get(cmd_name)
        if own is not None or point is None:
            return own
        try:
            found: click.Command = point.load()
        except Exception as error:  # whatever a package does when it is imported
            return _broken(point, error)
        return found


@cache
def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group="tfsvc.commands")}


def _broken(point: EntryPoint, error: Exception) -> click.Command:
    """Stands for a command that cannot be loaded, so that the others work."""

    @click.command(point.name, help=f"(cannot be loaded: {error})", context_settings={"ignore_unknown_options": True})
    @click.argument("arguments", nargs=-1)
    def broken(arguments: tuple[str, ...]) -> None:
        raise click.ClickException(f"`{point.name}` is {point.value}, which cannot be loaded: {error}")

    return broken


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tfsvc.__version__)
def main() -> None:
    """TensorFlow's distributed services without TensorFlow."""


@main.command()
@click.option("--files", type=click.IntRange(min=20), help="How many source files to read; all when not given.")
def demo(files: int | None) -> None:
    """Tokenises Python's standard library on three worker processes, kills one half-way, and counts.

    Exits with 1 if an element was lost or repeated, or the token counts differ from a plain loop's.
    """
    found = standard_library()[:files]
    click.echo(f"The input: {len(found)} source files of Python's standard library. First a plain loop in one process:")
    started = time.monotonic()
    expected = plain_loop(found)
    seconds = time.monotonic() - started
    click.echo(f"{expected.tokens:,} tokens in {len(expected.seen):,} elements, {seconds:.1f} s\n")
    parts = {point.name: point for point in entry_points(group="tfsvc.demo")}
    good = [parts[name].load()(found, expected, seconds) for name in DEMO_PARTS if name in parts]
    sys.exit(0 if all(good) else 1)
