"""The options of every command that serves or asks: certificates and a token."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from tfsvc.service.security import VARIABLES, Security

_OPTIONS = {
    "ca_file": (
        "--tls-ca",
        "Certificates of the service's authorities, in PEM; with it, all is encrypted.",
    ),
    "certificate_file": ("--tls-cert", "This node's certificate, in PEM."),
    "key_file": ("--tls-key", "The private key of it, in PEM."),
    "token_file": ("--token-file", "The token that the whole service has in common."),
}


def security_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command, which gets them as one ``security``."""

    @functools.wraps(command)
    def call(*args: Any, **given: Any) -> Any:
        files = {name: given.pop(name) for name in _OPTIONS}
        return command(*args, **given, security=Security(**files))

    for name, (option, text) in reversed(_OPTIONS.items()):
        place = click.option(option, name, metavar="FILE", envvar=VARIABLES[name], show_envvar=True, help=text)
        call = place(call)
    return call
