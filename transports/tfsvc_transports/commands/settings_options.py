"""The settings of a server as options of its command."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from tfsvc.errors import InvalidArgumentError
from tfsvc.units import DURATION, SIZE
from tfsvc_transports.commands.exits import Misused
from tfsvc_transports.configuration.layers import resolve
from tfsvc_transports.configuration.settings import Role, Setting

R = TypeVar("R")

_TYPES: Final[dict[str, Any]] = {"duration": DURATION, "size": SIZE, "number": int, "text": str, "texts": str}


def settings_options(role: Role) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Gives a command an option for each setting of ``role``, and ``--config``.

    The command gets what is in force of them as ``effective``, and whatever other options it has.
    """

    def decorate(command: Callable[..., R]) -> Callable[..., R]:
        @wraps(command)
        def run(config: Path | None, **given: Any) -> R:
            own = {name: given.pop(name) for name in role.settings}
            try:
                effective = resolve(role, own, os.environ, config)
            except InvalidArgumentError as error:
                raise Misused(error.message) from error
            return command(effective=effective, **given)

        made: Callable[..., R] = run
        for setting in reversed(tuple(role.settings.values())):
            made = _parameter(role, setting)(made)
        return click.option(
            "--config",
            envvar="TFSVC_CONFIG",
            type=click.Path(path_type=Path, dir_okay=False),
            help="A TOML file with more settings; or TFSVC_CONFIG.",
        )(made)

    return decorate


def _parameter(role: Role, setting: Setting) -> Callable[[Callable[..., R]], Callable[..., R]]:
    if setting.name == role.argument:
        return click.argument(setting.name, required=False)
    option = f"--{setting.name.replace('_', '-')}"
    shown = "" if setting.default in (None, (), False) else f"; {_shown(setting)} when not given"
    text = f"{setting.help[:1].upper()}{setting.help[1:]}{shown if 'not given' not in setting.help else ''}."
    if setting.kind == "flag":
        return click.option(f"{option}/--no-{option.removeprefix('--')}", setting.name, default=None, help=text)
    kind, multiple = _TYPES[setting.kind], setting.kind == "texts"
    return click.option(option, *setting.aliases, setting.name, type=kind, multiple=multiple, help=text)


def _shown(setting: Setting) -> str:
    return f"{setting.default:g}s" if setting.kind == "duration" else str(setting.default)
