"""The auditor: fails a run that asks an ambient clock, draws ambient luck, or starts a thread.

Every call of a C function is looked at as it happens, so it does not matter how the caller came by the function. Luck
of C code that calls C code is found by what it leaves behind: the state of the global generators.
"""

from __future__ import annotations

import _thread
import datetime
import gc
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import numpy as np


class AmbientError(AssertionError):
    """A run touched something that is not part of its seed; the message says what, and where."""


def _named(module: Any, *names: str) -> dict[int, str]:
    return {id(getattr(module, name)): f"{module.__name__}.{name}" for name in names if hasattr(module, name)}


CLOCKS: Final = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
FORBIDDEN: Final[dict[int, str]] = {
    **_named(time, *CLOCKS, *(f"{clock}_ns" for clock in CLOCKS), "sleep", "localtime", "gmtime", "clock_gettime"),
    **_named(os, "urandom", "getrandom"),
    **_named(_thread, "start_new_thread", "start_joinable_thread"),
}
"""C functions by identity; those of ``os`` and ``time`` are the same objects however they are imported."""
TODAY: Final = ("now", "utcnow", "today")


@contextmanager
def audited() -> Iterator[None]:
    """Looks on while the block runs.

    Raises:
      AmbientError: at its end, if anything ambient was touched; an exception of the block goes first.
    """
    touched: dict[str, None] = {}
    before = sys.getprofile()
    # What a collection of garbage would call belongs to whatever left the garbage.
    gc.collect()
    collecting = gc.isenabled()
    gc.disable()
    luck = random.getstate(), _numpy_state()
    sys.setprofile(_hook(touched))
    try:
        yield
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()
    if random.getstate() != luck[0] and not any("random" in what for what in touched):
        touched["the global generator of random"] = None
    if _numpy_state() != luck[1]:
        touched["the global generator of numpy.random"] = None
    if touched:
        raise AmbientError(
            f"the run touched {'; '.join(touched)}. Take time from the event, and luck from a labelled stream"
        )


def _hook(touched: dict[str, None]) -> Callable[[FrameType, str, Any], None]:
    def look(frame: FrameType, event: str, called: Any) -> None:
        if event != "c_call":
            return
        what = _ambient(called)
        if what:
            touched[f"{what} at {frame.f_code.co_filename}:{frame.f_lineno}"] = None

    return look


def _ambient(called: Any) -> str:
    """What is ambient about a C function; empty if nothing is."""
    name = FORBIDDEN.get(id(called))
    if name is not None:
        return name
    owner = getattr(called, "__self__", None)
    if owner is random._inst:
        return f"random.{called.__name__}"
    if isinstance(owner, type) and issubclass(owner, datetime.date) and called.__name__ in TODAY:
        return f"datetime.{called.__name__}"
    return ""


def _numpy_state() -> str:
    return repr(np.random.get_state())
