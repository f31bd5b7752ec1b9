"""The options of every command that asks a service: what it shows, and whom it trusts."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from tfsvc_transports.configuration.settings import CREDENTIALS

F = TypeVar("F", bound=Callable[..., Any])

_VARIABLES: Final = {setting.name: setting.variable for setting in CREDENTIALS.values()}


def credentials(command: F) -> F:
    """Adds them to a command. They count as its environment, from which all that it calls takes what it shows."""
    for setting in reversed(CREDENTIALS.values()):
        option = f"--{setting.name.replace('_', '-')}"
        text = f"{setting.help[:1].upper()}{setting.help[1:]}; or {setting.variable}."
        command = click.option(option, metavar="FILE", expose_value=False, callback=_put, help=text)(command)
    return command


def _put(context: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is None or option.name is None:
        return
    variable = _VARIABLES[option.name]
    before = os.environ.get(variable)
    os.environ[variable] = value
    context.call_on_close(lambda: os.environ.pop(variable) if before is None else os.environ.update({variable: before}))
