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


def check_calls(calls: int | None, most: int | None = None) -> None:
    """Checks a ``num_parallel_calls``; ``None`` and ``AUTOTUNE`` are right everywhere.

    Raises:
      InvalidArgumentError: if it is not positive, or exceeds ``most`` where that is given.
    """
    if calls is None or calls == AUTOTUNE:
        return
    if calls <= 0:
        raise InvalidArgumentError(message=f"num_parallel_calls must be greater than zero, but is {calls}.")
    if most is not None and calls > most:
        raise InvalidArgumentError(message=f"num_parallel_calls must be at most {most}, but is {calls}.")


def calls_at_once(calls: int) -> int:
    """A number of parallel calls, one a core for ``AUTOTUNE``."""
    return cores() if calls == AUTOTUNE else calls
