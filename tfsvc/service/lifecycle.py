"""The life of every server: start, join and stop.

Every order of calls is defined: ``start`` again does nothing, ``stop`` may come at any time and more
than once, a stopped server does not start again, ``join`` returns once it has stopped, and a server
that nobody refers to any more stops by itself.
"""

from __future__ import annotations

import atexit
from typing import Any
from weakref import WeakSet

from tfsvc.errors import FailedPreconditionError
from tfsvc.execution.elsewhere import Elsewhere
from tfsvc.service.backend import Backend, Server, backend
from tfsvc.service.config import DEFAULT_PROTOCOL
from tfsvc.service.finalizer import finish
from tfsvc.service.security import Security


class ServerLifecycle:
    """Start, join and stop of a server."""

    def __init__(self, protocol: str | None, security: Security | None = None) -> None:
        self._protocol = protocol or DEFAULT_PROTOCOL
        self._security = security
        self._server: Server | None = None
        self._stopped = False

    def _serve(self) -> Server:
        raise NotImplementedError

    def backend(self) -> Backend:
        """What its node is made with, and asked."""
        return backend(self._protocol, self._security)

    def start(self) -> None:
        """Starts the server; does nothing if it is running.

        Raises:
          tf.errors.OpError: if it cannot start, for example since the port is taken, or was stopped before.
        """
        if self._stopped:
            raise FailedPreconditionError(message="This server was stopped and cannot start again; make a new one.")
        if self._server is None:
            self._server = self._serve()
            _alive.add(self)

    def join(self, timeout: float | None = None) -> bool:
        """Waits until the server has stopped.

        Args:
          timeout: seconds to wait; for ever when not given.

        Returns:
          Whether it has stopped.

        Raises:
          tf.errors.FailedPreconditionError: if it was never started.
          tf.errors.OpError: if it stopped by itself, since it could not go on: a full disk, or another dispatcher
            that has taken over its ``work_dir``.
        """
        if self._server is not None:
            return self._server.join(timeout)
        if not self._stopped:
            raise FailedPreconditionError(message="This server was not started; call start() before join().")
        return True

    def stop(self) -> None:
        """Stops the server within two seconds and frees its port; does nothing if it has stopped."""
        self._forget()
        if self._server is not None:
            self._server.stop()

    def _forget(self) -> None:
        """It does not start again."""
        self._stopped = True
        _alive.discard(self)

    def __enter__(self) -> Any:
        if not self._stopped:
            self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __del__(self) -> None:
        server = getattr(self, "_server", None)
        if server is not None and not self._stopped:
            self._forget()
            finish(server.stop)

    def __reduce__(self) -> Any:
        # A dataset's function may close over something that holds a server; the server itself stays here.
        return Elsewhere, (type(self).__name__,)

    def _running(self) -> Server:
        if self._server is None:
            raise FailedPreconditionError(message="This server was not started; call start() first.")
        return self._server


_alive: WeakSet[ServerLifecycle] = WeakSet()


@atexit.register
def _stop_all() -> None:
    """Ends what still runs while its threads still can."""
    for server in tuple(_alive):
        server.stop()
