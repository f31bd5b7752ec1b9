"""The data service on a Ray cluster: dispatcher and workers as actors, where Ray places them.

Ray makes an actor that was killed, or whose machine is gone, anew. A worker then is a new one, and what the old one had
begun is read elsewhere; a dispatcher with a ``work_dir`` goes on with its journal, wherever it comes back.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tfsvc.errors import DeadlineExceededError, InvalidArgumentError, OpError
from tfsvc.launch.actors import DispatcherActor, WorkerActor
from tfsvc.service.arguments import parse_service
from tfsvc.service.config import DispatcherConfig, WorkerConfig
from tfsvc.service.controlling import stop_service
from tfsvc.service.security import is_loopback

try:
    import ray
except ImportError as error:
    raise ImportError("tfsvc.launch.ray needs Ray: pip install 'tfsvc[ray]'") from error

END_S: Final = 5.0
"""How long an actor may take to end beyond its time to drain."""
_CALLS: Final = 4
"""How many calls of an actor may run at once: that which waits for its end, and some that ask or tell it something."""
_FOR_EVER: Final = -1
"""As often as it takes, to Ray."""
_OPTIONS: Final = {"num_cpus": 1, "scheduling_strategy": "SPREAD"}
"""What an actor asks of Ray when nobody says anything."""


class RayWorkers:
    """Workers as actors: an ``Actuator``, so that an ``Autoscaler`` can have as many as readers could use.

    Ray may take a while to place an actor; one for which there is no room counts, and waits.

    Args:
      service: of the dispatcher, as in :func:`distribute`.
      options: of ``Actor.options`` in Ray, such as ``num_cpus``, ``resources``, ``scheduling_strategy`` or
        ``runtime_env``; one processor each, spread over the machines, when not given.
      config: further fields of :class:`WorkerConfig`.
      drain: seconds that a worker which is to end goes on, if it is read from.
    """

    def __init__(
        self,
        service: str,
        options: Mapping[str, Any] | None = None,
        config: Mapping[str, Any] | None = None,
        drain: float = 300.0,
    ) -> None:
        protocol, address = parse_service(service)
        self._config = WorkerConfig(f"{protocol}://{address}", **(config or {}))
        self._options = {**_OPTIONS, **(options or {})}
        self._drain = drain
        self._running: list[_Actor] = []
        self._ending: list[_Actor] = []

    @property
    def workers(self) -> int:
        """How many there are that are not to end, those for which Ray has no room yet included."""
        return sum(not actor.ended() for actor in tuple(self._running))

    def scale(self, workers: int) -> None:
        """Starts actors, or tells those that were started last to drain."""
        self._running = [actor for actor in self._running if not actor.ended()]
        self._ending = [actor for actor in self._ending if not actor.ended()]
        while len(self._running) < workers:
            self._running.append(_Actor(WorkerActor, self._config, self._options, _FOR_EVER))
        while len(self._running) > workers:
            actor = self._running.pop()
            if actor.begun():
                actor.handle.drain.remote(self._drain)
                self._ending.append(actor)
            else:
                actor.kill()  # nothing is lost with one that Ray never placed

    def wait(self, timeout: float = 60.0) -> None:
        """Returns when Ray has placed all of them and they have begun.

        Raises:
          tf.errors.DeadlineExceededError: if it has not in ``timeout`` seconds.
          ray.exceptions.ActorDiedError: if one cannot begin.
        """
        _await([actor.ready for actor in self._running], timeout, self._options)

    def close(self) -> None:
        """Ends all of them, and waits until they have."""
        self.scale(0)
        self.wait_for_end(self._drain + END_S)
        self.kill()

    def wait_for_end(self, timeout: float) -> None:
        """Returns when all have ended in good order, or after ``timeout`` seconds."""
        if actors := [*self._running, *self._ending]:
            ray.wait([actor.over for actor in actors], num_returns=len(actors), timeout=timeout)

    def kill(self) -> None:
        """Ends all of them at once."""
        for actor in (*self._running, *self._ending):
            actor.kill()
        self._running, self._ending = [], []


class RayService:
    """A whole service on the Ray cluster that this process is connected to, or on one of its own.

    It is an ``Actuator`` too. When the ``with`` block is left, or the process ends, all of it ends.

    Args:
      workers: how many to begin with.
      dispatcher: how it is set up. With a ``work_dir`` that all machines reach it comes back after a crash, and is
        found by its ``address_file``, beside the journal when not given; without, the service ends with it.
      worker: further fields of :class:`WorkerConfig`; ``host``, ``insecure`` and ``security`` are the
        dispatcher's. What a node's environment says of them comes with a ``runtime_env``.
      dispatcher_options: what the dispatcher asks of Ray; as for :class:`RayWorkers`.
      worker_options: what each worker asks of Ray.
      drain: seconds that a worker which is one too many goes on, if it is read from.
      timeout: for how many seconds Ray may look for places.

    Raises:
      tf.errors.InvalidArgumentError: if its parts would not reach each other on this cluster.
      tf.errors.DeadlineExceededError: if Ray has no place for all of them.

    Example::

        with RayService(workers=4) as service:
            for element in dataset.apply(tf.data.experimental.service.distribute("distributed_epoch", service.target)):
                train(element)
    """

    def __init__(
        self,
        workers: int = 2,
        dispatcher: DispatcherConfig | None = None,
        worker: Mapping[str, Any] | None = None,
        dispatcher_options: Mapping[str, Any] | None = None,
        worker_options: Mapping[str, Any] | None = None,
        drain: float = 300.0,
        timeout: float = 60.0,
    ) -> None:
        config = _findable(DispatcherConfig() if dispatcher is None else dispatcher)
        if not ray.is_initialized():
            ray.init()
        _check_reach(config.host)
        options = {**_OPTIONS, **(dispatcher_options or {})}
        lasting = config.journal_dir() is not None
        self._security = config.security
        with ExitStack() as undo:
            self._dispatcher = _Actor(DispatcherActor, config, options, _FOR_EVER if lasting else 0)
            undo.callback(self._dispatcher.kill)
            _await([self._dispatcher.ready], timeout, options)
            place = f"file:{config.address_file}" if lasting else ray.get(self._dispatcher.handle.address.remote())
            self._target = f"{config.protocol or 'grpc'}://{place}"
            given = {"host": config.host, "insecure": config.insecure, "security": config.security, **(worker or {})}
            self._workers = RayWorkers(self._target, worker_options, given, drain)
            undo.callback(self._workers.kill)
            self._workers.scale(workers)
            self._workers.wait(timeout)
            undo.pop_all()

    @property
    def target(self) -> str:
        """Where readers connect, on any machine of the cluster."""
        return self._target

    @property
    def workers(self) -> int:
        """How many workers there are that are not to end."""
        return self._workers.workers

    def scale(self, workers: int) -> None:
        """Begins to run so many workers, and returns soon; those that are too many drain, so that nothing is lost."""
        self._workers.scale(workers)

    def wait(self, timeout: float = 60.0) -> None:
        """Returns when Ray has placed all workers; as :meth:`RayWorkers.wait`."""
        self._workers.wait(timeout)

    def close(self, grace: float = 0.0) -> None:
        """Ends all of it; safe to repeat.

        Args:
          grace: for how many seconds the workers go on, if their readers have not had everything.
        """
        if not self._dispatcher.ended():
            with suppress(OpError):
                stop_service(self._target, grace, security=self._security)
                self._workers.wait_for_end(END_S)
                ray.wait([self._dispatcher.over], timeout=END_S)
        self.kill()

    def kill(self) -> None:
        """Ends all of it at once, as a crash would."""
        self._workers.kill()
        self._dispatcher.kill()

    def __enter__(self) -> RayService:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Actor:
    """An actor, and the calls that tell when it is there and when it is over."""

    def __init__(self, kind: type, config: object, options: Mapping[str, Any], restarts: int) -> None:
        whole = {"max_restarts": restarts, "max_task_retries": restarts, "max_concurrency": _CALLS, **options}
        self.handle = ray.remote(kind).options(**whole).remote(config, _machine)
        self.ready = self.handle.ready.remote()
        self.over = self.handle.join.remote()
        # What it held is free at once, though nobody asks how many there are. Not on this thread, which is Ray's own.
        self.over.future().add_done_callback(lambda _: threading.Thread(target=self.kill, daemon=True).start())

    def begun(self) -> bool:
        """Whether it is, or was, there."""
        begun, _ = ray.wait([self.ready], timeout=0)
        return bool(begun)

    def ended(self) -> bool:
        """Whether it is over for good."""
        ended, _ = ray.wait([self.over], timeout=0)
        return bool(ended)

    def kill(self) -> None:
        if ray.is_initialized():
            ray.kill(self.handle, no_restart=True)


def _machine() -> str:
    return str(ray.util.get_node_ip_address())


def _await(ready: Sequence[Any], timeout: float, options: Mapping[str, Any]) -> None:
    """Waits until actors have begun."""
    begun, missing = ray.wait(list(ready), num_returns=len(ready), timeout=timeout) if ready else ([], [])
    ray.get(begun)
    if missing:
        raise DeadlineExceededError(
            message=f"Ray has placed {len(begun)} of {len(ready)} actors in {timeout:g} s. Each asks for "
            f"{dict(options)}; free are {ray.available_resources()}. Ask for less, for fewer workers, or give the "
            "cluster more machines."
        )


def _findable(config: DispatcherConfig) -> DispatcherConfig:
    """The same, where the dispatcher may come back elsewhere: with whole paths, and an address file."""
    journal = config.journal_dir()
    if journal is None:
        return config
    if "://" not in journal:
        config = replace(config, work_dir=str(Path(journal).absolute()))
    elif config.address_file is None:
        raise InvalidArgumentError(
            message=f"with its journal in {journal} the dispatcher may come back on another machine: give "
            "`address_file` in a directory that all machines share, by which it is found there"
        )
    return replace(config, address_file=str(Path(config.address_file or f"{config.work_dir}/address").absolute()))


def _check_reach(host: str) -> None:
    machines = sum(bool(node["Alive"]) for node in ray.nodes())
    if machines > 1 and is_loopback(host):
        raise InvalidArgumentError(
            message=f"this Ray cluster has {machines} machines, which do not reach each other at host={host!r}: give "
            'dispatcher=DispatcherConfig(host="0.0.0.0", ...) with credentials, or insecure=True where the network is '
            "trusted"
        )
