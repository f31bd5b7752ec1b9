"""The log of a command: as text for people, or a line of JSON for each record, for machines that collect logs."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TextIO, TypeVar

import click

R = TypeVar("R")

FORMATS: Final = ("text", "json")
LEVELS: Final = ("debug", "info", "warning", "error", "critical")


class JsonLines(logging.Formatter):
    """One object a record: ``time`` (UTC), ``level``, ``logger``, ``message``, and ids.

    Ids are those of the node that speaks (``role``, ``node``, ``incarnation``) and of what it speaks about (``job``,
    ``iteration``, ``task``, ``lane``, ``reader``, ``worker``), as far as there are any. ``held_back`` counts messages
    like this one that were not written. ``exception`` is a traceback.
    """

    def format(self, record: logging.LogRecord) -> str:
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        told: dict[str, Any] = {
            "time": f"{seconds}.{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "ids", {}),
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, default=str)


class Text(logging.Formatter):
    """Time, level and message."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")


def write_log(format: str, level: str, stream: TextIO | None = None) -> None:
    """Has the logger ``tfsvc`` write to ``stream``, standard error when not given, in one of ``FORMATS``."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonLines() if format == "json" else Text())
    log = logging.getLogger("tfsvc")
    log.handlers = [handler]
    log.setLevel(level.upper())
    log.propagate = False


def log_options(command: Callable[..., R]) -> Callable[..., R]:
    """Gives a command ``--log-format`` and ``--log-level``."""

    @click.option(
        "--log-format",
        envvar="TFSVC_LOG_FORMAT",
        type=click.Choice(FORMATS),
        default="text",
        show_default=True,
        help="How the log is written; or TFSVC_LOG_FORMAT.",
    )
    @click.option(
        "--log-level",
        envvar="TFSVC_LOG_LEVEL",
        type=click.Choice(LEVELS, case_sensitive=False),
        default="info",
        show_default=True,
        help="From which level on; or TFSVC_LOG_LEVEL.",
    )
    @wraps(command)
    def run(*args: Any, log_format: str, log_level: str, **given: Any) -> R:
        write_log(log_format, log_level)
        return command(*args, **given)

    return run  # fmt: skip
