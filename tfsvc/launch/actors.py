"""The servers of the data service as actors: objects that an engine keeps in processes of their own.

An actor that dies is made anew by its engine, with the same arguments: a worker is a new one then, a dispatcher goes on
with its journal. So a server that could not go on ends its process.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from dataclasses import replace

from tfsvc.errors import OpError
from tfsvc.service.config import DispatcherConfig, WorkerConfig
from tfsvc.service.security import is_loopback
from tfsvc.service.servers import DispatchServer, WorkerServer

_log = logging.getLogger("tfsvc")

LOOK_S = 1.0
"""How often a call that waits for a server's end looks up, so that its engine can interrupt it."""


class ServerActor:
    """What both kinds have in common."""

    def __init__(self, server: DispatchServer | WorkerServer) -> None:
        self._server = server
        threading.Thread(target=self._fail_with_it, name="tfsvc-actor", daemon=True).start()

    def ready(self) -> None:
        """Returns once the actor is there."""

    def join(self) -> None:
        """Returns when the server has ended in good order; then the actor is of no use any more."""
        while not self._server.join(LOOK_S):
            pass

    def _fail_with_it(self) -> None:
        try:
            self._server.join()
        except OpError as error:
            _log.error("this actor ends: %s", error.message)
            os._exit(1)


class DispatcherActor(ServerActor):
    """A dispatcher.

    Args:
      machine: gives the address of the machine, as others of the engine reach it.
    """

    def __init__(self, config: DispatcherConfig, machine: Callable[[], str]) -> None:
        if config.advertise is None and not is_loopback(config.host):
            config = replace(config, advertise=f"{machine()}:%port%")
        server = DispatchServer(replace(config, own_process=False))
        self._address = config.advertised(int(server.target.rpartition(":")[2]))
        super().__init__(server)

    def address(self) -> str:
        """Where others reach it."""
        return self._address


class WorkerActor(ServerActor):
    """A worker.

    Args:
      machine: as of the dispatcher.
    """

    def __init__(self, config: WorkerConfig, machine: Callable[[], str]) -> None:
        if config.worker_address is None and not is_loopback(config.host):
            config = replace(config, worker_address=f"{machine()}:%port%")
        self._worker = WorkerServer(config)
        super().__init__(self._worker)

    def drain(self, grace_s: float) -> None:
        """Ends it as soon as nothing is lost by that, or after ``grace_s`` seconds."""
        self._worker.drain(grace_s)
