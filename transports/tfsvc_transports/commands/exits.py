"""How a command ends: one set of exit codes for all of them, and what was refused in words.

0: all is well. 1: something is not, or was refused. 2: the command was called wrongly. 3: who was asked cannot be
reached. 4: it did not come to an end in the time that was given. 128 and more: it was ended by a signal.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click

from tfsvc.errors import DeadlineExceededError, OpError, UnavailableError, UnimplementedError

FINE: Final = 0
BAD: Final = 1
USAGE: Final = 2
UNREACHABLE: Final = 3
LATE: Final = 4
SIGNAL: Final = 128
"""And the signal's number."""


class Refused(click.ClickException):
    """A command that ends with a message."""

    exit_code = BAD


class Misused(Refused):
    """A command that was called wrongly, in its file or its environment."""

    exit_code = USAGE


class Unreachable(Refused):
    """A command whose peer does not answer."""

    exit_code = UNREACHABLE


class Late(Refused):
    """A command that did not come to its end in the time that was given."""

    exit_code = LATE


@contextmanager
def refusals_told() -> Iterator[None]:
    """Ends the command with what was refused, in words."""
    try:
        yield
    except (OpError, ValueError) as error:
        raise Refused(_words(error)) from error


@contextmanager
def asking(peer: str) -> Iterator[None]:
    """The same, where ``peer`` is asked and may be out of reach; the log does not say it once more."""
    log = logging.getLogger("tfsvc")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with refusals_told():
            yield
    except Refused as refused:
        if isinstance(refused.__cause__, UnavailableError | DeadlineExceededError):
            why = refused.message.rstrip(".")
            text = f"{peer} cannot be reached: {why}. `tfsvc doctor {peer}` looks for the reason."
            raise Unreachable(text) from refused.__cause__
        if isinstance(refused.__cause__, UnimplementedError):
            text = f"{peer} is TensorFlow's dispatcher, an older one, or a worker: it knows no such question"
            raise Refused(text) from refused.__cause__
        raise
    finally:
        log.setLevel(level)


def _words(error: OpError | ValueError) -> str:
    return " ".join((error.message if isinstance(error, OpError) else str(error)).split())
