"""``tf.distribute.experimental.rpc.Client``."""

from __future__ import annotations

from typing import Any

from tfsvc.distribute.experimental.rpc.connection import Connection, Listed
from tfsvc.distribute.experimental.rpc.results import ResultStream, StatusOrResult
from tfsvc.distribute.experimental.rpc.server import LAYER, check_layer
from tfsvc.service.security import Security


class Client:
    """A client of one server; :meth:`create` makes one."""

    @staticmethod
    def create(
        rpc_layer: str,
        address: str,
        name: str = "",
        timeout_in_ms: int = 0,
        *,
        retry: bool = False,
        security: Security | None = None,
    ) -> GrpcClient:
        """A client of the server at ``address``, with a method for each that the server has registered.

        ``multiply`` is there as ``client.multiply(a, b)``, which returns at once with a :class:`StatusOrResult`, and
        as ``client.multiply_blocking(a, b)``, which waits for the value or raises. Both take ``timeout_in_ms=``.
        A method whose results stream is there as ``client.countdown(a)``, an iterator.

        Args:
          rpc_layer: the layer between client and server: ``"grpc"``.
          address: of the server, as ``"host:port"``. It need not be there yet: it is waited for.
          name: tells clients of one server apart, for people.
          timeout_in_ms: how long the listing of methods and each call wait; 0 for as long as it takes.
          retry: whether a call is made again when its answer was lost, until its time is over. A server of tfsvc runs
            such a call once; one that was restarted meanwhile does not run it again, and the call ends with
            ``AbortedError``. TensorFlow's servers cannot tell, so that calls to them are not made again.
          security: how it shows who it is, and whom it trusts; as the environment says when not given.

        Raises:
          ValueError: if ``rpc_layer`` is another one.
          tf.errors.DeadlineExceededError: if the server did not list its methods in time.
        """
        check_layer(rpc_layer)
        return GrpcClient(address, name, True, timeout_in_ms, retry, security)

    def call(
        self, method_name: str, args: Any = None, output_specs: Any = None, timeout_in_ms: int = 0
    ) -> StatusOrResult:
        """See :meth:`GrpcClient.call`."""
        raise NotImplementedError("Use Client.create('grpc', address) to make a client.")


class GrpcClient(Client):
    """A client on gRPC.

    Args:
      address: of the server, as ``"host:port"``.
      name: tells clients of one server apart, for people.
      list_registered_methods: whether to wait for the server and add its methods to this object.
      timeout_in_ms: how long the listing and each call wait; 0 for as long as it takes.
      retry: as for :meth:`Client.create`.
      security: as there.
    """

    def __init__(
        self,
        address: str,
        name: str = "",
        list_registered_methods: bool = False,
        timeout_in_ms: int = 0,
        retry: bool = False,
        security: Security | None = None,
    ) -> None:
        self.name = name
        self._connection = Connection(LAYER, address, timeout_in_ms, retry, security)
        if list_registered_methods:
            for method in self._connection.methods(self._connection.want_list().wait()):
                self._add(method)

    def call(
        self, method_name: str, args: Any = None, output_specs: Any = None, timeout_in_ms: int = 0
    ) -> StatusOrResult:
        """Calls a registered method, and returns at once.

        Args:
          method_name: the name it is registered under.
          args: the arguments: a list, or any nest, of tensors and of what can become one.
          output_specs: the nest of specs of what it gives. Without them the value is the flat list of its tensors,
            ``None`` if there are none.
          timeout_in_ms: how long to wait; 0 for the client's own time.

        Raises:
          TypeError, ValueError: if an argument is no tensor.
        """
        return self._connection.call(method_name, args, output_specs, timeout_in_ms)

    def stream(self, method_name: str, args: Any = None, timeout_in_ms: int = 0) -> ResultStream:
        """Calls a method whose results come one by one.

        Args:
          method_name: the name it is registered under.
          args: as for :meth:`call`.
          timeout_in_ms: how long to wait for each result; 0 for the client's own time.
        """
        return self._connection.stream(method_name, args, timeout_in_ms)

    def close(self) -> None:
        """Gives up all calls and streams; further calls do nothing."""
        self._connection.close()

    def __enter__(self) -> GrpcClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _add(self, method: Listed) -> None:
        # The functions hold the connection, not the client, and so live as long as they are used.
        connection = self._connection

        def call(*args: Any, timeout_in_ms: int = 0) -> StatusOrResult:
            method.check(args)
            return connection.call(method.name, args, method.output_specs, timeout_in_ms)

        def blocking(*args: Any, timeout_in_ms: int = 0) -> Any:
            return call(*args, timeout_in_ms=timeout_in_ms).get_value()

        def stream(*args: Any, timeout_in_ms: int = 0) -> ResultStream:
            method.check(args)
            return connection.stream(method.name, args, timeout_in_ms)

        for name, function in (
            {method.name: stream} if method.streams else {method.name: call, f"{method.name}_blocking": blocking}
        ).items():
            function.__name__ = name
            function.__doc__ = f"RPC Call for {method.name} method to server {connection.address}"
            setattr(self, name, function)
