"""Garbage: rarely collected while a world runs, since nearly nothing of a world is garbage that counting misses."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

YOUNG_MAX: Final = 50_000
"""How many more objects there may be before the youngest are looked at; Python's own limit is 700."""


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Within the block, cycles are looked for after ``YOUNG_MAX`` new objects.

    What a world makes lives on or dies at once, and is linked in circles only where an error was raised. Looking at a
    thousand workers and their lanes again and again took a third of the time in which they began.
    """
    limits = gc.get_threshold()
    gc.set_threshold(max(limits[0], YOUNG_MAX) if limits[0] else 0, *limits[1:])
    try:
        yield
    finally:
        gc.set_threshold(*limits)
