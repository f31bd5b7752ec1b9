"""Running a server until it is told to end, or ends by itself."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import Final, NoReturn

from tfsvc.service.servers import DispatchServer, WorkerServer
from tfsvc_transports.commands.exits import FINE, SIGNAL, refusals_told

LOOK_S: Final = 0.1
"""How often it is looked whether a signal has come."""
STOP_S: Final = 3.0
"""How long the end in good order may take after a second signal."""


class Signals:
    """Counts INT and TERM, which else would end the process; the third does."""

    def __init__(self) -> None:
        self.first = threading.Event()
        self.second = threading.Event()
        self.last = signal.SIGTERM
        for kind in (signal.SIGTERM, signal.SIGINT):
            signal.signal(kind, self._came)

    def now(self) -> None:
        """As if both had come."""
        self.first.set()
        self.second.set()

    def _came(self, number: int, frame: FrameType | None) -> None:
        self.last = signal.Signals(number)
        if self.first.is_set():
            self.second.set()
            for kind in (signal.SIGTERM, signal.SIGINT):
                signal.signal(kind, signal.SIG_DFL)
        self.first.set()


def serve(server: DispatchServer | WorkerServer, drain_s: float = 0.0, with_parent: bool = False) -> int:
    """Waits for the first signal or the server's own end, and ends it; gives the exit code.

    Args:
      drain_s: for how long a worker goes on after the first signal, so that nothing is lost. A second signal stops it
        at once.
      with_parent: whether it stops at once when standard input ends, which the parent holds.
    """
    signals = Signals()
    if with_parent:
        threading.Thread(target=_await_parent, args=(signals,), daemon=True).start()
    with refusals_told():
        while not signals.first.is_set() and not server.join(LOOK_S):
            pass
    if signals.first.is_set() and drain_s and isinstance(server, WorkerServer):
        draining = threading.Thread(target=server.drain, args=(drain_s,), daemon=True)
        draining.start()
        while draining.is_alive() and not signals.second.is_set():
            draining.join(LOOK_S)
    if signals.second.is_set():
        _stop_at_once(server, signals.last)
    server.stop()
    return FINE


def _stop_at_once(server: DispatchServer | WorkerServer, signal_: signal.Signals) -> NoReturn:
    """Takes leave of the others in good order if that is quick, and ends the process whatever it is still busy with."""
    stopping = threading.Thread(target=server.stop, daemon=True)
    stopping.start()
    stopping.join(STOP_S)
    sys.stdout.flush()
    os._exit(SIGNAL + signal_)


def _await_parent(signals: Signals) -> None:
    while os.read(sys.stdin.fileno(), 4096):  # not through a file's lock, which would be held at the interpreter's end
        pass
    signals.now()
