"""What a command prints: tables for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import click
from rich.console import Console
from rich.table import Table

F = TypeVar("F", bound=Callable[..., Any])

_WIDE: Final = 200
"""How wide a table may get that goes to a file or another program."""


def console() -> Console:
    """Standard output: in colours if it is a terminal and ``NO_COLOR`` is not set, and never cut off otherwise."""
    made = Console(highlight=False, soft_wrap=False)
    return made if made.is_terminal else Console(highlight=False, width=_WIDE)


def json_option(command: F) -> F:
    """The option ``--json``, as the parameter ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, whose keys stay as they are.")(command)


def say_json(value: Any) -> None:
    """One JSON object: indented on a terminal, on one line elsewhere."""
    click.echo(json.dumps(value, indent=2 if sys.stdout.isatty() else None))


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[str] = ()) -> Table:
    """A table with a title; columns that are ``numbers`` stand at the right."""
    made = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        made.add_column(column, justify="right" if column in numbers else "left", header_style="dim", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made
