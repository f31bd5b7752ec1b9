"""How many things an operator does at once."""

from __future__ import annotations

import os
from typing import Final

from tfsvc.errors import InvalidArgumentError

AUTOTUNE: Final = -1
"""Leaves the choice of a degree of parallelism or of a buffer size open."""


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_calls(calls: int) -> None:
    """Checks a number of parallel calls.

    Raises:
      InvalidArgumentError: unless it is positive or ``AUTOTUNE``.
    """
    if calls <= 0 and calls != AUTOTUNE:
        raise InvalidArgumentError(message="num_parallel_calls must be greater than zero.")


def calls_at_once(calls: int) -> int:
    """A number of parallel calls, one a core for ``AUTOTUNE``."""
    return cores() if calls == AUTOTUNE else calls
