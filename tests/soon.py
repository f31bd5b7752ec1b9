"""Waiting for what other threads and processes bring about."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(holds: Callable[[], T], seconds: float, every: float = 0.01) -> T:
    """What ``holds`` gives as soon as that is true; fails if it is not within so many ``seconds``."""
    give_up = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < give_up, f"it did not come to that within {seconds} s"
        time.sleep(every)
    return found
