"""``tf.distribute.experimental.rpc.Server``."""

from __future__ import annotations

from typing import Any

from tfsvc import nest
from tfsvc.eager.functions import UNKNOWN, ConcreteFunction, Function
from tfsvc.eager.symbolic import tracing
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError
from tfsvc.execution.methods import Method, Methods
from tfsvc.execution.tensors import with_none_specs
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.messages import RegisteredMethod
from tfsvc.protocol.rpc.settings import MethodSettings, RpcServerSettings
from tfsvc.service.backend import Server as ServingNode
from tfsvc.service.lifecycle import ServerLifecycle
from tfsvc.service.security import Security, check_host
from tfsvc.specs import TensorSpec
from tfsvc.wire.specs_codec import encode_spec

LAYER = "grpc"


def check_layer(rpc_layer: str) -> None:
    """Refuses what is not gRPC.

    Raises:
      ValueError: if it is another layer.
      NotImplementedError: while a ``tf.function`` is traced.
    """
    if rpc_layer != LAYER:
        raise ValueError(f"Only GRPC backend is supported at the moment; got {rpc_layer!r}, use 'grpc'.")
    if tracing():
        raise NotImplementedError("RPC servers and clients cannot be created within a tf.function.")


class Server:
    """A server of functions; :meth:`create` makes one."""

    @staticmethod
    def create(rpc_layer: str, address: str, *, security: Security | None = None) -> GrpcServer:
        """A server that has not started.

        Args:
          rpc_layer: the layer between client and server: ``"grpc"``.
          address: where it will serve, as ``"host:port"``; port 0 is a free one, see :attr:`GrpcServer.port`.
          security: how it shows who it is, and whom it lets in; as the environment says when not given.

        Raises:
          ValueError: if ``rpc_layer`` is another one, or ``address`` has no port.
          tf.errors.InvalidArgumentError: if ``address`` lets other machines connect, and ``security`` does not say who
            may.
        """
        check_layer(rpc_layer)
        return GrpcServer(address, security=security)

    def register(self, method_name: str, func: Any) -> None:
        """See :meth:`GrpcServer.register`."""
        raise NotImplementedError("Use Server.create('grpc', address) to make a server.")

    def start(self) -> None:
        """See :meth:`GrpcServer.start`."""
        raise NotImplementedError("Use Server.create('grpc', address) to make a server.")


class GrpcServer(ServerLifecycle, Server):
    """A server on gRPC.

    Args:
      address: where it will serve, as ``"host:port"``.
      settings: how long calls are remembered, and more.
      security: as for :meth:`Server.create`.
    """

    def __init__(
        self, address: str, settings: RpcServerSettings | None = None, security: Security | None = None
    ) -> None:
        super().__init__(LAYER, security)
        host, colon, port = address.rpartition(":")
        if not colon or not port.isdigit():
            raise ValueError(f"the address of a server is 'host:port', such as 'localhost:5050'; got {address!r}")
        check_host(host, security or Security())
        self._host = host
        self._port = int(port)
        self._settings = settings or RpcServerSettings()
        self._methods: dict[str, Method] = {}

    @property
    def port(self) -> int:
        """The port that it serves on; 0 until it starts, if it was to be a free one."""
        return self._server.port if self._server is not None else self._port

    @property
    def address(self) -> str:
        """Where clients reach it, as ``"host:port"``."""
        return f"{self._host}:{self.port}"

    def register(
        self,
        method_name: str,
        func: Any,
        *,
        output_specs: Any = UNKNOWN,
        max_batch: int = 1,
        max_wait_ms: float = 0,
        max_concurrent: int | None = None,
        max_queued: int | None = None,
    ) -> None:
        """Lets clients call ``func``; all methods are registered before the server starts.

        Calls run side by side on threads. A generator gives its results one by one, to clients of tfsvc.

        Args:
          method_name: under which name.
          func: a ``tf.function`` with an input signature, or without parameters, or a ``ConcreteFunction``.
          output_specs: the nest of specs of what it gives. When not given they are learned by tracing ``func``; where
            that fails, clients of TensorFlow can call it only with specs of their own.
          max_batch: how many calls one run of ``func`` takes. Beyond 1, each argument that ``func`` gets has one more
            dimension in front, with a row for each call, and so must have what it gives; the signature and
            ``output_specs`` describe one call. A batch that fails is run again call by call, so that a bad call fails
            alone: keep effects out of such a function.
          max_wait_ms: how long the first call of a batch waits for others.
          max_concurrent: how many runs there may be at once; any number when not given.
          max_queued: how many more calls may wait for one to end; those beyond are refused with
            ``ResourceExhaustedError``. Any number when not given.

        Raises:
          TypeError: if the name is not a text.
          ValueError: if ``func`` is not one of these, or a limit makes no sense.
          tf.errors.InvalidArgumentError: if the name is taken.
          tf.errors.FailedPreconditionError: if the server was started.
        """
        self._check_name(method_name)
        concrete = _concrete(func)
        signature = concrete.structured_input_signature[0]
        if concrete.streams and max_batch > 1:
            raise ValueError("a function that streams its results cannot be batched")
        _check_limits(max_batch, max_wait_ms, max_concurrent, max_queued)
        if output_specs is UNKNOWN:
            output_specs = concrete.structured_outputs if max_batch == 1 else _outputs_of_one(concrete)
        known = output_specs is not UNKNOWN
        listing = RegisteredMethod(
            method_name,
            encode_spec(signature),
            encode_spec(with_none_specs(output_specs) if known else None),
            concrete.streams,
        )
        settings = MethodSettings(listing, max_batch, int(max_wait_ms * MILLISECOND), max_concurrent, max_queued)
        self._methods[method_name] = Method(concrete.python_function, signature, not known, settings)

    def _check_name(self, method_name: Any) -> None:
        if not isinstance(method_name, str):
            raise TypeError(f"a method's name is a text; got {method_name!r}")
        if self._server is not None or self._stopped:
            raise FailedPreconditionError(
                message="All methods must be registered before starting the server. Call register before start."
            )
        if method_name in self._methods:
            raise InvalidArgumentError(message=f"{method_name} is already registered.")

    def _serve(self) -> ServingNode:
        methods = Methods(self._methods.values())
        return self.backend().start_rpc_server(self._host, self._port, methods, self._settings)


def _check_limits(max_batch: int, max_wait_ms: float, max_concurrent: int | None, max_queued: int | None) -> None:
    for name, limit in {"max_batch": max_batch, "max_concurrent": max_concurrent}.items():
        if limit is not None and limit < 1:
            raise ValueError(f"{name} must be at least 1; got {limit}")
    if max_wait_ms < 0 or (max_queued is not None and max_queued < 0):
        raise ValueError(f"max_wait_ms and max_queued must not be negative; got {max_wait_ms} and {max_queued}")


def _concrete(func: Any) -> ConcreteFunction:
    if isinstance(func, ConcreteFunction):
        return func
    if not isinstance(func, Function):
        raise ValueError(f"Only TF functions are supported with register; decorate {func!r} with tf.function.")
    if func.input_signature is None and func.takes_arguments:
        raise ValueError("Input signature not specified for the function.")
    return func.get_concrete_function()


def _outputs_of_one(concrete: ConcreteFunction) -> Any:
    """What one call gives of a function that takes many at once."""
    many = nest.map_structure(_with_rows, concrete.structured_input_signature[0])
    outputs = ConcreteFunction(concrete.python_function, many).structured_outputs
    specs = nest.flatten(outputs)
    if not all(isinstance(spec, TensorSpec) and spec.shape for spec in specs):
        return UNKNOWN
    return nest.map_structure(lambda spec: TensorSpec(spec.shape[1:], spec.dtype), outputs)


def _with_rows(spec: TensorSpec) -> TensorSpec:
    return TensorSpec(None if spec.shape is None else (None, *spec.shape), spec.dtype, spec.name)
