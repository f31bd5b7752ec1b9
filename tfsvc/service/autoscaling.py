"""Autoscaling: as many workers as readers could use, started and ended by whoever can do that.

:class:`Autoscaler` asks a service how many workers would do, decides, and has an :class:`Actuator` do it.
:class:`LocalProcesses` is the actuator for one machine.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Final, Protocol

from tfsvc.errors import OpError
from tfsvc.service.arguments import parse_service
from tfsvc.service.controlling import Scaling, recommended_workers
from tfsvc.service.security import Security

_log = logging.getLogger("tfsvc")

END_S: Final = 5.0
"""How long a process may take to end beyond its time to drain."""


class Actuator(Protocol):
    """Starts and ends workers. Its calls come from one thread, one after the other."""

    @property
    def workers(self) -> int:
        """How many workers it runs, those that are on their way included, those that are to end not."""
        ...

    def scale(self, workers: int) -> None:
        """Begins to run so many workers, and returns soon. Those that are too many drain, so that nothing is lost."""
        ...


class LocalProcesses:
    """Workers as processes of this machine.

    Args:
      service: of the dispatcher, as in :func:`distribute`.
      drain: seconds that a worker which is to end goes on, if it is read from.
      security: how the workers show who they are; as the environment says when not given.

    Example::

        processes = LocalProcesses("localhost:5050")
        processes.scale(4)
        processes.close()
    """

    def __init__(self, service: str, drain: float = 300.0, *, security: Security | None = None) -> None:
        protocol, address = parse_service(service)
        self._command = [sys.executable, "-m", "tfsvc", "worker", f"{protocol}://{address}", "--with-parent"]
        self._command += ["--drain", str(drain)]
        self._environment = (security or Security()).environment()
        self._drain = drain
        self._running: list[subprocess.Popen[bytes]] = []
        self._ending: list[subprocess.Popen[bytes]] = []

    @property
    def workers(self) -> int:
        """How many run that are not to end."""
        self._running = [child for child in self._running if child.poll() is None]
        self._ending = [child for child in self._ending if child.poll() is None]
        return len(self._running)

    def scale(self, workers: int) -> None:
        """Starts processes, or tells those that were started last to drain."""
        while self.workers < workers:
            environment = {**os.environ, **self._environment}
            self._running.append(
                subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment)
            )
        while self.workers > workers:
            child = self._running.pop()
            child.terminate()
            self._ending.append(child)

    def close(self) -> None:
        """Ends all of them, and waits until they have."""
        ending = [*self._running, *self._ending]
        self.scale(0)
        give_up = time.monotonic() + self._drain + END_S
        for child in ending:
            try:
                child.wait(max(0.0, give_up - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            if child.stdin is not None:
                child.stdin.close()


class Policy:
    """How many workers there should be, from what the service says and when it said so.

    More at once; fewer only when fewer would have done all the time for a while, so that a short lull ends none.

    Args:
      least: never fewer; what is kept where nobody reads.
      most: never more.
      calm: for how many seconds fewer must have done.
    """

    def __init__(self, least: int, most: int, calm: float) -> None:
        if not 0 <= least <= most:
            raise ValueError(f"the least number of workers must be from 0 to the most; got {least} and {most}")
        self._least = least
        self._most = most
        self._calm = calm
        self._began: float | None = None
        self._wanted: list[tuple[float, int]] = []

    def decide(self, recommended: int | None, current: int, now: float) -> int:
        """How many there should be from now on, of ``current``; ``now`` in seconds."""
        self._began = now if self._began is None else self._began
        wanted = min(max(recommended or 0, self._least), self._most)
        self._wanted = [*((at, workers) for at, workers in self._wanted if at > now - self._calm), (now, wanted)]
        if wanted >= current:
            return wanted
        if now - self._began < self._calm:
            return current
        return min(current, max(workers for _, workers in self._wanted))


class Autoscaler:
    """Keeps a service at as many workers as its readers could use.

    Args:
      service: as in :func:`distribute`.
      actuator: starts and ends the workers.
      least: never fewer workers.
      most: never more.
      interval: seconds between two looks.
      calm: for how many seconds fewer must have done before any are ended.

    Raises:
      ValueError: if ``least`` is more than ``most``.

    Example::

        with Autoscaler(dispatcher.target, LocalProcesses(dispatcher.target), least=1, most=8):
            train()
    """

    def __init__(
        self,
        service: str,
        actuator: Actuator,
        least: int = 1,
        most: int = 8,
        interval: float = 5.0,
        calm: float = 60.0,
        ask: Callable[[str], Scaling] = recommended_workers,
    ) -> None:
        self._service = service
        self._actuator = actuator
        self._policy = Policy(least, most, calm)
        self._interval = interval
        self._ask = ask
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tfsvc-autoscaler", daemon=True)

    def start(self) -> None:
        """Begins to look, on a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Looks no more; the workers stay."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> Autoscaler:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def look(self) -> None:
        """Asks, decides and acts once."""
        try:
            scaling = self._ask(self._service)
        except OpError as error:
            _log.warning("the number of workers stays as it is: %s", error.message)
            return
        current = self._actuator.workers
        wanted = self._policy.decide(scaling.recommended, current, time.monotonic())
        if wanted != current:
            _log.info("from %d to %d workers", current, wanted)
            self._actuator.scale(wanted)

    def _run(self) -> None:
        while not self._over.is_set():
            self.look()
            self._over.wait(self._interval)
