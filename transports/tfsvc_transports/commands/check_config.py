"""``tfsvc check-config``: what a server would be set up with, and who says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import click

from tfsvc.units import show_duration, show_size
from tfsvc_transports.commands.exits import refusals_told
from tfsvc_transports.commands.output import console, json_option, say_json, table
from tfsvc_transports.commands.settings_options import settings_options
from tfsvc_transports.configuration.layers import Effective, fields
from tfsvc_transports.configuration.settings import DISPATCHER, WORKER, Role, Setting

_MACHINE: Final = {
    "job_gc_check_interval": "gc_interval_ns",
    "job_gc_timeout": "gc_timeout_ns",
    "worker_timeout": "worker_timeout_ns",
    "client_timeout": "client_timeout_ns",
    "worker_max_concurrent_snapshots": "snapshots_max",
    "worker_address": "address",
    "heartbeat_interval": "heartbeat_ns",
    "dispatcher_timeout": "dispatcher_timeout_ns",
    "cross_trainer_cache_size": "cache_bytes",
    "snapshot_max_chunk_size": "chunk_bytes",
}
"""What the machines call a setting that has a default of their own."""


def _in_force(setting: Setting, value: Any, machine: object) -> Any:
    """What the server makes of a value that nobody has given, as ``machine``, its settings, has it."""
    name = _MACHINE.get(setting.name)
    if value or name is None:
        return value
    found = getattr(machine, name)
    return found / 1e9 if setting.kind == "duration" else found


@click.group("check-config")
def check_config() -> None:
    """Prints each setting of a server that is in force, and where it comes from.

    It takes what the server's own command takes, starts nothing, and exits with 1 if the server would refuse to start.
    """


@check_config.command()
@settings_options(DISPATCHER)
@json_option
def dispatcher(effective: Mapping[str, Effective], as_json: bool) -> None:
    """The same for `tfsvc dispatcher`."""
    _tell(DISPATCHER, effective, as_json)


@check_config.command()
@settings_options(WORKER)
@json_option
def worker(effective: Mapping[str, Effective], as_json: bool) -> None:
    """The same for `tfsvc worker`."""
    _tell(WORKER, effective, as_json)


def _tell(role: Role, effective: Mapping[str, Effective], as_json: bool) -> None:
    with refusals_told():
        machine = role.config(
            **{**({"dispatcher_address": ""} if role is WORKER else {}), **fields(effective)}
        ).settings()
    values = {name: _in_force(each.setting, each.value, machine) for name, each in effective.items()}
    if as_json:
        say_json({name: {"value": values[name], "source": each.source} for name, each in effective.items()})
    else:
        rows = [(name, _words(each.setting, values[name]), each.source) for name, each in effective.items()]
        console().print(table(f"tfsvc {role.name}", ("setting", "value", "source"), rows))


def _words(setting: Setting, value: Any) -> str:
    if value is None or value == ():
        return "-"
    match setting.kind:
        case "duration":
            return show_duration(value) if value >= 0 else "for ever"
        case "size":
            return show_size(value)
        case "texts":
            return ", ".join(value)
        case "flag":
            return "yes" if value else "no"
        case _:
            return str(value)
