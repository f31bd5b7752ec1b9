"""Watching a node: what its machine is told and says, as it happens, seen by whoever measures."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from tfsvc.protocol.contract import Command, Event
from tfsvc.protocol.ids import Instant

LOG = logging.getLogger("tfsvc")


class Watcher(Protocol):
    """Sees every event with what came of it, in order, by one thread at a time. It must be quick."""

    def saw(self, now: Instant, event: Event, commands: Sequence[Command]) -> None: ...


class Watchers:
    """All watchers of a node. One that fails sees nothing more; the node goes on."""

    def __init__(self, watchers: Sequence[Watcher] = ()) -> None:
        self._watchers = tuple(watchers)

    def saw(self, now: Instant, event: Event, commands: Sequence[Command]) -> None:
        for watcher in self._watchers:
            try:
                watcher.saw(now, event, commands)
            except Exception:
                LOG.exception("%s fails, and is left out from now on", type(watcher).__name__)
                self._watchers = tuple(other for other in self._watchers if other is not watcher)
