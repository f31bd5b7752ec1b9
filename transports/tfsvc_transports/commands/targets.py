"""Whom a command asks: the dispatcher, and for how long it is waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from tfsvc.protocol.messages import Description
from tfsvc.protocol.messages.description import ROWS_MAX
from tfsvc.service.controlling import describe
from tfsvc.service.discovery import DISPATCHER_VARIABLE
from tfsvc.units import DURATION
from tfsvc_transports.commands.credentials import credentials
from tfsvc_transports.commands.exits import asking

F = TypeVar("F", bound=Callable[..., Any])

TIMEOUT_S: Final = 5.0
ALL: Final = 1 << 20
"""So many rows of a kind are all there are."""


class _Asked(click.Argument):
    """Says, where nobody is named, where a dispatcher may be named."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        try:
            return super().process_value(ctx, value)
        except click.MissingParameter as missing:
            text = f"Give an address, such as localhost:5050, or set {DISPATCHER_VARIABLE}."
            raise click.MissingParameter(text, ctx, self) from missing


def described(dispatcher: str, timeout_s: float, rows_max: int = ROWS_MAX) -> Description:
    """What the dispatcher tells of its cluster; ends the command if it does not."""
    with asking(dispatcher):
        return describe(dispatcher, rows_max, timeout_s)


def dispatcher_argument(command: F) -> F:
    """``DISPATCHER``: the address of one, or ``TFSVC_DISPATCHER`` of the environment; and what to show there."""
    return click.argument("dispatcher", cls=_Asked, envvar=DISPATCHER_VARIABLE)(credentials(command))


def dispatcher_option(command: F) -> F:
    """The same as an option."""
    text = f"The dispatcher; or {DISPATCHER_VARIABLE}."
    option = click.option("-d", "--dispatcher", envvar=DISPATCHER_VARIABLE, required=True, metavar="ADDRESS", help=text)
    return option(credentials(command))


timeout_option = click.option(
    "--timeout", type=DURATION, default=f"{TIMEOUT_S:g}s", show_default=True, help="How long an answer is waited for."
)
