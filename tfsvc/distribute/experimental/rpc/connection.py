"""What every client knows of its server: the methods that it lists, and how each is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfsvc import nest
from tfsvc.distribute.experimental.rpc.results import ResultStream, StatusOrResult
from tfsvc.eager.functions import UNKNOWN
from tfsvc.errors import RpcError, to_exception
from tfsvc.execution.tensors import encode_arguments
from tfsvc.protocol.ids import MILLISECOND
from tfsvc.protocol.messages import ListResponse, RegisteredMethod
from tfsvc.protocol.reading import Said
from tfsvc.protocol.rpc.wishes import Invocation, Listing
from tfsvc.service.backend import Result, backend
from tfsvc.service.security import Security
from tfsvc.wire.specs_codec import decode_spec


@dataclass(frozen=True)
class Listed:
    """A method that the server lists.

    Attributes:
      input_specs: a nest of specs for each argument.
      output_specs: of what it gives; ``UNKNOWN`` where the server does not know them.
      streams: whether its results come one by one.
    """

    name: str
    input_specs: Any
    output_specs: Any
    streams: bool

    def check(self, args: tuple[Any, ...]) -> None:
        """Checks the structure of the arguments, as TensorFlow does; a method without parameters takes anything.

        Raises:
          ValueError: if there are too many or too few, or their nests differ.
          TypeError: if a nest is of another type.
        """
        if self.input_specs:
            nest.assert_same_structure(args, self.input_specs)


def listed(method: RegisteredMethod) -> Listed:
    """The method with its specs decoded."""
    outputs = decode_spec(method.output_specs)
    return Listed(
        method.method, decode_spec(method.input_specs), UNKNOWN if outputs is None else outputs, method.streams
    )


class Connection:
    """One client's way to one server.

    Args:
      layer: the RPC layer.
      address: of the server.
      timeout_in_ms: how long calls wait that name no time of their own; 0 for as long as it takes.
      retry: whether calls are made again when it is not known whether they ran.
      security: how the client shows who it is, and whom it trusts.
    """

    def __init__(
        self, layer: str, address: str, timeout_in_ms: int, retry: bool, security: Security | None = None
    ) -> None:
        self.address = address
        self._timeout_ns = _nanoseconds(timeout_in_ms)
        self._retry = retry
        self._caller = backend(layer, security).open_rpc_caller(address)

    def want_list(self) -> Result:
        """Asks for the methods; :meth:`methods` takes the answer."""
        return self._caller.want(Listing(self._timeout_ns))

    def methods(self, found: Any) -> list[Listed]:
        """The methods in an answer to :meth:`want_list`.

        Raises:
          tf.errors.OpError: if the server did not give them, or not in time.
        """
        if isinstance(found, RpcError):
            raise to_exception(found)
        assert isinstance(found, Said), found
        assert isinstance(found.response, ListResponse), found
        return [listed(method) for method in found.response.registered_methods]

    def call(self, method_name: str, args: Any, output_specs: Any, timeout_in_ms: int) -> StatusOrResult:
        """Begins a call."""
        timeout_ns = _nanoseconds(timeout_in_ms) or self._timeout_ns
        inputs = () if args is None else encode_arguments(args)
        pending = self._caller.want(Invocation(method_name, inputs, timeout_ns, self._retry))
        return StatusOrResult(self._caller, pending, output_specs)

    def stream(self, method_name: str, args: Any, timeout_in_ms: int) -> ResultStream:
        """Begins a stream."""
        timeout_ns = _nanoseconds(timeout_in_ms) or self._timeout_ns
        inputs = () if args is None else encode_arguments(args)
        opened = self._caller.want(Invocation(method_name, inputs, timeout_ns, self._retry, streams=True))
        return ResultStream(self._caller, opened, timeout_ns)

    def close(self) -> None:
        """Gives up all calls and streams; further calls do nothing."""
        self._caller.close()


def _nanoseconds(timeout_in_ms: int) -> int:
    if isinstance(timeout_in_ms, bool) or not isinstance(timeout_in_ms, int):
        raise TypeError(f"timeout_in_ms is a whole number of milliseconds; got {timeout_in_ms!r}")
    return max(0, timeout_in_ms) * MILLISECOND
