"""Forks: while the process is forked, no call is in flight.

gRPC survives a fork only if none of its threads is at work, and waits for them for five seconds; then
it forks all the same, and the child hangs. So the calls of a process begin here. Before a fork, held
reads are cancelled, which is safe as they are made again; other calls are given time to end; new ones
wait until the fork is over.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, Final, Protocol

WAIT_S: Final = 2.0
"""How long a fork waits for calls to end."""


class Call(Protocol):
    """A call that has been made."""

    def cancel(self) -> object: ...

    def add_done_callback(self, ended: Callable[[Any], None], /) -> object:
        """Calls ``ended`` when it has ended, on any thread."""


Start = Callable[[], Call | None]
"""Makes a call; ``None`` if its channel has been closed."""

Ended = Callable[[Any], None]
"""Takes a call that has ended, or ``None`` if it could not be made."""


class Calls:
    """All calls of a process that a fork has to wait for."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._forking = False
        self._busy = 0
        self._held: dict[Call, None] = {}
        self._waiting: list[Callable[[], None]] = []

    def begin(self, start: Start, held: bool, ended: Ended) -> None:
        """Begins a call, now or after the fork that is under way.

        Args:
          start: makes the call.
          held: whether its peer may hold it for long, and it may be cancelled and made again.
          ended: takes the call when it has ended, on any thread.
        """
        with self._changed:
            if self._forking:
                self._waiting.append(lambda: self.begin(start, held, ended))
                return
            self._busy += 1
        call = start()
        if call is None:
            self._end(None, ended)
            return
        if held:
            self._held[call] = None
            if self._forking:
                call.cancel()
        call.add_done_callback(lambda _: self._end(call, ended))

    def pause(self) -> None:
        """Lets no call begin, and those in flight end."""
        with self._changed:
            self._forking = True
        for call in tuple(self._held):
            call.cancel()
        with self._changed:
            self._changed.wait_for(lambda: not self._busy, WAIT_S)

    def resume(self) -> None:
        """Begins what has waited."""
        with self._changed:
            self._forking = False
            waiting, self._waiting = self._waiting, []
        for begin in waiting:
            begin()

    def _end(self, call: Call | None, ended: Ended) -> None:
        try:
            ended(call)
        finally:
            with self._changed:
                if call is not None:
                    self._held.pop(call, None)
                self._busy -= 1
                self._changed.notify_all()


_calls = Calls()


def begin(start: Start, held: bool, ended: Ended) -> None:
    """Begins a call of this process, whose channel has been made; see :meth:`Calls.begin`."""
    _register()
    _calls.begin(start, held, ended)


@cache
def _register() -> None:
    """Makes forks wait.

    What is registered last runs first, and gRPC registers when the first channel is made. Once its own
    part has begun, no call ends any more.
    """
    os.register_at_fork(before=lambda: _calls.pause(), after_in_parent=lambda: _calls.resume(), after_in_child=_forget)


def _forget() -> None:
    """A forked child has no call in flight; what waits is its parent's."""
    global _calls
    _calls = Calls()
