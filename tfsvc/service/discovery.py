"""Where the dispatcher is, for those who are told where it can be looked up rather than its address.

A **locator** stands wherever an address of the dispatcher does:

    file:/shared/dispatcher     what is written in that file, as by ``DispatcherConfig.address_file``
    env:NAME                    what that variable holds: an address, or another locator
    dns:name:port               whoever the name stands for now, as a headless service's in Kubernetes

It is looked up when the dispatcher is first called, and again whenever it was not reached. So a dispatcher that comes
back elsewhere with its journal is found by all who knew it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tfsvc.errors import InvalidArgumentError, UnavailableError

DISPATCHER_VARIABLE: Final = "TFSVC_DISPATCHER"
"""Names the dispatcher where nothing else does."""
_ADDRESS: Final = re.compile(r"(\[[^\s\[\]]+\]|[^\s:/\[\]]+):(?P<port>[0-9]{1,5})")
_SCHEMES: Final = ("file:", "env:", "dns:")
_HOPS_MAX: Final = 4
"""Locators that name each other in a circle are an error."""
_WRITES: Final = "A dispatcher that is started with this file as its `address_file` writes it."


def is_address(text: str) -> bool:
    """Whether it is ``host:port``."""
    found = _ADDRESS.fullmatch(text)
    return found is not None and 0 < int(found["port"]) <= 65535


def is_locator(text: str) -> bool:
    """Whether it says where to look, and is no address itself."""
    return text.startswith(_SCHEMES) and not is_address(text)


def check_locator(locator: str) -> None:
    """Refuses what could never be looked up.

    Raises:
      ValueError: for a locator without a file, a variable, or a name and port.
    """
    scheme, _, rest = locator.partition(":")
    if not rest or (scheme == "dns" and not is_address(rest)) or rest != rest.strip():
        raise ValueError(
            f"Malformed locator {locator!r}: use file:/path/of/a/file, env:NAME_OF_A_VARIABLE or dns:name:port."
        )


def _read(path: str) -> str:
    return Path(path).read_text()


def resolve(locator: str, environment: Mapping[str, str] = os.environ, read: Callable[[str], str] = _read) -> str:
    """The address that ``locator`` stands for now; an address stands for itself.

    A protocol before it, as in ``grpc://host:port``, is left out. Names are resolved by whoever connects, each time.

    Args:
      environment: where variables are looked up.
      read: reads a file.

    Raises:
      UnavailableError: if there is no such file yet, or nothing in it.
      InvalidArgumentError: if there is no such variable, or what is there is no address.
    """
    text = locator
    for _ in range(_HOPS_MAX):
        if is_locator(text):
            text = _look(text, environment, read).strip()
        if not is_locator(text):
            text = text.partition("://")[2] or text
    if not is_address(text):
        raise InvalidArgumentError(message=f"{locator} leads to {text!r}, which is no address of the form host:port.")
    return text


def _look(locator: str, environment: Mapping[str, str], read: Callable[[str], str]) -> str:
    """What stands where one locator points to."""
    scheme, _, rest = locator.partition(":")
    match scheme:
        case "dns":
            return rest
        case "env":
            if not environment.get(rest, "").strip():
                raise InvalidArgumentError(message=f"{rest} is not set; set it to host:port, or to file:/path.")
            return environment[rest]
        case _:
            try:
                found = read(rest)
            except OSError as error:
                raise UnavailableError(message=f"{locator} cannot be read ({error.strerror}). {_WRITES}") from error
            if not found.strip():
                raise UnavailableError(message=f"{locator} is empty. {_WRITES}")
            return found


def write_address(path: str, address: str) -> None:
    """Lets ``file:`` + ``path`` lead to ``address``. A reader sees the old text or the new one, never half of one.

    Raises:
      UnavailableError: if the file cannot be written.
    """
    whole = Path(path)
    new = whole.with_name(f".{whole.name}.{os.getpid()}")
    try:
        new.write_text(f"{address}\n")
        new.replace(whole)
    except OSError as error:
        raise UnavailableError(
            message=f"cannot write address_file={path!r} ({error.strerror}), so nobody would find this dispatcher; "
            "name a file in a directory that exists and may be written"
        ) from error
