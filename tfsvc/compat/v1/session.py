"""``Session``: runs parts of a graph on a cluster."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

from tfsvc.compat.v1.fetches import Fetches, flat_feeds
from tfsvc.compat.v1.graph import Graph, default_session, get_default_graph
from tfsvc.distribute.server import Server
from tfsvc.errors import Code, InvalidArgumentError, NotFoundError, OpError, RpcError, to_exception
from tfsvc.protocol.cluster.asker import AskerSettings
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.messages import cluster as c
from tfsvc.service.backend import Asking, backend
from tfsvc.service.security import Security
from tfsvc.train.protos import ConfigProto, RunOptions, as_message
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.tensors import from_bytes, to_bytes

_TARGET: Final = re.compile(r"(?P<protocol>[\w+]+)://(?P<address>.*)")
_ADDRESS: Final = re.compile(r"(\[[^\[\]]+\]|[^:/\s]+):\d{1,5}")


@dataclass(frozen=True, slots=True)
class DeviceAttributes:
    """A device that a session can use: its full name, type, memory in bytes, and which life of its task it is."""

    name: str
    device_type: str
    memory_limit_bytes: int
    incarnation: int


class Session:
    """Runs operations of a graph on the cluster of a server.

    A step that fails with ``AbortedError`` or ``UnavailableError`` has lost a server: make a new session. A
    step is never run twice, however often its request is repeated on the way.

    Args:
      target: of a server, as ``Server.target`` gives it. Without, a server within this process is made for this
        session alone, and ends with it.
      graph: what to run; the default graph when not given.
      config: a ``ConfigProto``.
      security: how it shows who it is, and whom it trusts; as the environment says when not given.

    Raises:
      TypeError: if ``graph`` or ``config`` is of another type.
      tf.errors.NotFoundError: if there is no such protocol.
      tf.errors.InvalidArgumentError: if the target is no address.
    """

    def __init__(
        self,
        target: str = "",
        graph: Graph | None = None,
        config: Any = None,
        *,
        security: Security | None = None,
    ) -> None:
        if not isinstance(graph, Graph | None):
            raise TypeError(f"Argument `graph` must be a tf.Graph, but got {type(graph)}")
        self._server = None if target else Server({"localhost": ["localhost:0"]}, protocol="inprocess")
        self._asker, self._address = _connect(target or str(self._server and self._server.target), security)
        self._graph = get_default_graph() if graph is None else graph
        self._config = _config(config)
        self._lock = threading.Lock()
        self._handle = ""
        self._sent = 0
        self._version = 0
        self._closed = False
        self._entered = ExitStack()

    @property
    def graph(self) -> Graph:
        """The graph that it runs."""
        return self._graph

    @property
    def graph_def(self) -> pb.GraphDef:
        """The graph as a message."""
        return self._graph.as_graph_def()

    def run(
        self,
        fetches: Any,
        feed_dict: Mapping[Any, Any] | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Runs one step.

        Args:
          fetches: a tensor, an operation, a variable, the name of one, or a nest of them.
          feed_dict: values for tensors; each is converted to the tensor's data type.
          options: a ``RunOptions``; ``timeout_in_ms`` bounds the wait.
          run_metadata: kept for compatibility.

        Returns:
          The nest of ``fetches`` with NumPy's arrays and scalars in it, ``None`` for operations.

        Raises:
          RuntimeError: if the session is closed.
          TypeError: if something to fetch or feed is of a wrong type.
          ValueError: if something to fetch or feed is not of the graph, or a value does not fit its tensor.
          tf.errors.OpError: if the step fails.
        """
        wanted = Fetches(self._graph, fetches)
        feeds = flat_feeds(self._graph, feed_dict)
        timeout_ms = 0 if options is None else _options(options).timeout_in_ms
        self._extend()
        if not (wanted.tensors or wanted.targets):
            return wanted.build({})
        request = c.RunStepRequest(
            self._handle,
            tuple(c.NamedTensor(name, to_bytes(array)) for name, array in feeds.items()),
            tuple(name for name in wanted.tensors if name not in feeds),
            tuple(wanted.targets),
            c.RunOptions(timeout_ms),
            store_errors_in_response_body=True,
            request_id=secrets.randbits(63),
        )
        fed = {name: feeds[name] for name in wanted.tensors if name in feeds}
        if not (request.fetch or request.target):
            return wanted.build(fed)
        response = self._ask(request, timeout_ms)
        assert isinstance(response, c.RunStepResponse)
        if response.status_code:
            raise to_exception(RpcError(Code(response.status_code), response.status_error_message))
        return wanted.build(fed | {named.name: _value(named.tensor) for named in response.tensor})

    def make_callable(self, fetches: Any, feed_list: Sequence[Any] | None = None) -> Callable[..., Any]:
        """A function that runs one kind of step; its arguments are the values of ``feed_list``."""
        keys = tuple(feed_list or ())

        def run(*values: Any) -> Any:
            if len(values) != len(keys):
                raise TypeError(f"the callable takes {len(keys)} values, but {len(values)} were given")
            return self.run(fetches, dict(zip(keys, values, strict=True)))

        return run

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices of all tasks that the session sees.

        Raises:
          tf.errors.OpError: if the server cannot say.
        """
        self._extend()
        response = self._ask(c.ListDevicesRequest(self._handle))
        assert isinstance(response, c.ListDevicesResponse)
        return [DeviceAttributes(d.name, d.device_type, d.memory_limit, d.incarnation) for d in response.local_device]

    def close(self) -> None:
        """Ends the session and cancels its steps; variables stay. Does nothing if it is closed."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._handle:
                self._asker.ask(self._address, c.CloseSessionRequest(self._handle), self._timeout(_CLOSE_MS))
        except OpError:
            pass  # the server is gone, and the session with it
        finally:
            self._asker.close()
            if self._server is not None:
                self._server.stop()

    @staticmethod
    def reset(
        target: str,
        containers: Sequence[str] | None = None,
        config: Any = None,
        *,
        security: Security | None = None,
    ) -> None:
        """Closes all sessions of a server, and clears variables on all tasks of its cluster.

        Args:
          target: of the server.
          containers: which ones to clear; all of them when not given.
          config: a ``ConfigProto``, whose ``device_filters`` say which tasks are meant and whose
            ``operation_timeout_in_ms`` bounds the wait.
          security: as of a session.

        Raises:
          tf.errors.OpError: if a task cannot be cleared.
        """
        message = _config(config)
        asker, address = _connect(target, security)
        timeout_ms = message.operation_timeout_in_ms
        try:
            request = c.ResetRequest(tuple(containers or ()), tuple(message.device_filters))
            asker.ask(address, request, timeout_ms * MILLISECOND if timeout_ms else None)
        finally:
            asker.close()

    def as_default(self) -> Any:
        """Lets ``Tensor.eval`` and ``Operation.run`` use this session."""
        return default_session(self)

    def __enter__(self) -> Session:
        self._entered.enter_context(self._graph.as_default())
        self._entered.enter_context(default_session(self))
        return self

    def __exit__(self, *_: object) -> None:
        self._entered.close()
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            self._closed = True
            self._asker.close(wait=False)

    def _extend(self) -> None:
        """Opens the session when first needed, and sends what was added to the graph since."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        with self._lock:
            count = len(self._graph.operations)
            if not self._handle:
                config = c.SessionConfig(
                    tuple(self._config.device_filters),
                    self._config.allow_soft_placement,
                    self._config.operation_timeout_in_ms,
                    self._config.isolate_session_state,
                    c.ClusterDef(tuple(c.JobDef(job.name) for job in self._config.cluster_def.job)),
                )
                created = self._ask(c.CreateSessionRequest(self._graph.serialized(), config))
                assert isinstance(created, c.CreateSessionResponse)
                self._handle, self._version = created.session_handle, created.graph_version
            elif count > self._sent:
                more = c.ExtendSessionRequest(self._handle, self._graph.serialized(self._sent), self._version)
                extended = self._ask(more)
                assert isinstance(extended, c.ExtendSessionResponse)
                self._version = extended.new_graph_version
            self._sent = count

    def _ask(self, request: c.MasterRequest, timeout_ms: int = 0) -> Any:
        return self._asker.ask(self._address, request, self._timeout(timeout_ms))

    def _timeout(self, timeout_ms: int) -> int | None:
        timeout_ms = timeout_ms or self._config.operation_timeout_in_ms
        return timeout_ms * MILLISECOND if timeout_ms > 0 else None


_CLOSE_MS: Final = 2000
"""How long a server may take to close a session."""


def _connect(target: str, security: Security | None) -> tuple[Asking, str]:
    found = _TARGET.fullmatch(target)
    if found is None:
        raise NotFoundError(message=f"No session factory registered for the target {target!r}; give a server's target")
    try:
        made = backend(found["protocol"], security)
    except NotFoundError as error:
        raise NotFoundError(
            message=f"No session factory registered for the target {target!r}. {error.message}"
        ) from error
    if not _ADDRESS.fullmatch(found["address"]):
        raise InvalidArgumentError(message=f'Could not interpret "{found["address"]}" as a host-port pair.')
    return made.open_asker(AskerSettings()), found["address"]


def _config(config: Any) -> ConfigProto:
    message = ConfigProto() if config is None else as_message(config, ConfigProto)
    if message is None:
        raise TypeError(f"Argument `config` must be a tf.ConfigProto, but got {type(config)}")
    return message


def _options(options: Any) -> RunOptions:
    message = as_message(options, RunOptions)
    if message is None:
        raise TypeError(f"Argument `options` must be a tf.RunOptions, but got {type(options)}")
    return message


def _value(tensor: bytes) -> Any:
    """An array of the caller's own, or a scalar."""
    array = from_bytes(tensor)
    return array.copy() if array.ndim else array[()]
