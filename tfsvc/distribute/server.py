"""``tf.distribute.Server``: one member of a cluster, in this process."""

from __future__ import annotations

import re
from typing import Any, Final

from tfsvc.errors import InternalError, InvalidArgumentError, NotFoundError, UnavailableError, UnknownError
from tfsvc.protocol.cluster.desk import TaskSettings
from tfsvc.protocol.cluster.names import Task
from tfsvc.protocol.messages.cluster import SessionConfig
from tfsvc.service.backend import Bound, backend
from tfsvc.service.backend import Server as Running
from tfsvc.service.finalizer import finish
from tfsvc.service.lifecycle import ServerLifecycle
from tfsvc.service.security import Security, is_loopback
from tfsvc.train.cluster_spec import ClusterSpec
from tfsvc.train.protos import ConfigProto, ServerDef, as_message

_ADDRESS: Final = re.compile(r"(?P<host>\[[^\[\]]+\]|[^:/\s]+):(?P<port>\d{1,5})")


class Server(ServerLifecycle):
    """A server that belongs to a cluster as one task of a job, and runs the steps of sessions.

    Its port is bound when the server is made, so ``target`` is known before ``start``. A server whose address
    is a loopback one is reached from this machine alone; any other is reached on all interfaces.

    Args:
      server_or_cluster_def: a ``ServerDef``; or a ``ClusterDef``, a :class:`ClusterSpec`, or what one is made of.
      job_name: the job it is of; may be left out where the cluster has only one.
      task_index: which task of the job it is; may be left out where the job has only one.
      protocol: how it is reached; ``"grpc"`` when not given.
      config: a ``ConfigProto`` with the defaults of the sessions that run here.
      start: whether to start at once; yes.
      security: how it shows who it is to clients and to its cluster, and whom it lets in; as the environment says when
        not given.

    Raises:
      TypeError: if ``server_or_cluster_def`` is none of these.
      ValueError: if the job or the task must be named, or there is no such job.
      tf.errors.InvalidArgumentError: if its address lets other machines connect, and ``security`` does not say who may.
      tf.errors.OpError: if the server cannot be made, for example since its port is taken.
    """

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Any = None,
        start: bool = True,
        *,
        security: Security | None = None,
    ) -> None:
        self._server_def = make_server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        super().__init__(self._server_def.protocol, security)
        self._task = Task(self._server_def.job_name, self._server_def.task_index)
        self._host, port = _address_of(self._server_def)
        self._bound = _bind(self._server_def.protocol, self._host, self._server_def.port or port, security)
        if start:
            self.start()

    @property
    def server_def(self) -> ServerDef:
        """The ``ServerDef`` of this server."""
        return self._server_def

    @property
    def target(self) -> str:
        """What a ``tf.compat.v1.Session`` connects to: ``protocol://host:port``."""
        return f"{self._server_def.protocol}://{self._host}:{self._bound.port}"

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """A cluster of this one process, on a free port of this machine.

        Args:
          config: a ``ConfigProto`` with the defaults of its sessions.
          start: whether to start at once; yes.
        """
        return Server({"localhost": ["localhost:0"]}, protocol="grpc", config=config, start=start)

    def stop(self) -> None:
        """Stops the server within two seconds and frees its port; does nothing if it has stopped."""
        if self._server is None and not self._stopped:
            self._bound.close()
        super().stop()

    def __del__(self) -> None:
        if hasattr(self, "_bound") and self._server is None and not self._stopped:
            finish(self._bound.close)
        super().__del__()

    def _serve(self) -> Running:
        cluster = ClusterSpec(self._server_def.cluster)
        addresses = tuple(
            (Task(job, index), cluster.task_address(job, index))
            for job in sorted(cluster.jobs)
            for index in cluster.task_indices(job)
        )
        given = self._server_def.default_session_config
        defaults = SessionConfig(
            tuple(given.device_filters),
            given.allow_soft_placement,
            given.operation_timeout_in_ms,
            given.isolate_session_state,
        )
        return self._bound.start(TaskSettings(self._task, addresses, defaults=defaults))


def make_server_def(
    server_or_cluster_def: Any, job_name: str | None, task_index: int | None, protocol: str | None, config: Any
) -> ServerDef:
    """The ``ServerDef`` of a server's arguments.

    Raises:
      TypeError: if it cannot be told which cluster is meant.
      ValueError: if it cannot be told which task is meant.
    """
    given = as_message(server_or_cluster_def, ServerDef)
    server_def = ServerDef()
    if given is not None:
        server_def.CopyFrom(given)
        server_def.job_name = server_def.job_name if job_name is None else job_name
        server_def.task_index = server_def.task_index if task_index is None else task_index
        server_def.protocol = server_def.protocol if protocol is None else protocol
    else:
        try:
            cluster = ClusterSpec(server_or_cluster_def)
        except TypeError as error:
            raise TypeError(
                "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or `tf.train.ClusterSpec`."
            ) from error
        if job_name is None:
            if len(cluster.jobs) != 1:
                raise ValueError("Must specify an explicit `job_name`.")
            job_name = cluster.jobs[0]
        if task_index is None:
            indices = cluster.task_indices(job_name)
            if len(indices) != 1:
                raise ValueError("Must specify an explicit `task_index`.")
            task_index = indices[0]
        server_def.cluster.CopyFrom(cluster.as_cluster_def())
        server_def.job_name, server_def.task_index = job_name, task_index
        server_def.protocol = "grpc" if protocol is None else protocol
    if config is not None:
        message = as_message(config, ConfigProto)
        if message is None:
            raise TypeError(f"`config` must be a `tf.compat.v1.ConfigProto`. Got {type(config)}.")
        server_def.default_session_config.MergeFrom(message)
    return server_def


def _address_of(server_def: ServerDef) -> tuple[str, int]:
    """The host and port of the task's own address.

    Raises:
      InternalError: if the cluster has no such task.
      InvalidArgumentError: if the address is no address.
    """
    tasks = {job.name: job.tasks for job in server_def.cluster.job}.get(server_def.job_name)
    if tasks is None:
        raise InternalError(message=f'Job "{server_def.job_name}" was not defined in cluster')
    if server_def.task_index not in tasks:
        raise InternalError(message=f'Task {server_def.task_index} was not defined in job "{server_def.job_name}"')
    address = tasks[server_def.task_index]
    if "://" in address:
        raise InvalidArgumentError(message=f'Could not interpret "{address}" as a host-port pair.')
    found = _ADDRESS.fullmatch(address)
    if found is None or int(found["port"]) > 65535:
        raise InvalidArgumentError(message=f'Could not parse port for local server from "{address}".')
    return found["host"], int(found["port"])


def _interface(host: str) -> str:
    """What to bind for a host that peers know by this name: a machine need not know itself by it."""
    if is_loopback(host):
        return host
    return "[::]" if host.startswith("[") else "0.0.0.0"


def _bind(protocol: str, host: str, port: int, security: Security | None) -> Bound:
    try:
        found = backend(protocol, security)
    except NotFoundError as error:
        raise NotFoundError(
            message=f"No server factory registered for the given ServerDef: its protocol is {protocol!r}. "
            f"{error.message}"
        ) from error
    try:
        return found.bind_task(_interface(host), port)
    except UnavailableError as error:
        raise UnknownError(message=f"Could not start gRPC server: {error.message}") from error
