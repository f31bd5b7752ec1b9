"""What a finalizer may do: have something done elsewhere, and wait for it only where that cannot stand still."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from typing import Final

WAIT_S: Final = 3.0
"""How long a program's main thread waits for a server that nobody refers to any more."""


def finish(stop: Callable[[], None]) -> None:
    """Runs ``stop`` on a thread of its own; on the main thread returns when it has run.

    Python collects garbage on whichever thread makes an object, in the middle of what that does. One that holds a lock
    of gRPC's would wait for itself, and one that all timers run on would keep the whole process waiting. Not even
    ``threading.Thread`` can be used here, since its own lock may be held.
    """
    done = _thread.allocate_lock()
    done.acquire()

    def run() -> None:
        try:
            stop()
        finally:
            done.release()

    try:
        _thread.start_new_thread(run, ())
    except RuntimeError:  # the interpreter ends, and starts no threads any more
        return
    if _thread.get_ident() == threading.main_thread().ident:
        done.acquire(timeout=WAIT_S)
