"""What is asked of an RPC server, and what it answers.

``Call`` and ``List`` are TensorFlow's; the other calls are ours. Tensors and specs are serialized messages that the
protocol passes on without reading them.
"""

from __future__ import annotations

from enum import IntEnum

from tfsvc.record import record

Tensors = tuple[bytes | memoryview, ...]
"""Tensors, each a serialized ``TensorProto``."""


class Refusal(IntEnum):
    """Why a server of ours did not begin a call, nor any stream's next items."""

    NONE = 0
    SESSION = 1
    """It does not know the session: it was restarted, or the session was idle for too long."""
    FORGOTTEN = 2
    """The call may have run; its answer is no longer kept."""
    STOPPING = 3
    """It ends, and begins no more calls."""


@record
class RegisteredMethod:
    """A method as a server lists it.

    Attributes:
      method: its name.
      input_specs: a serialized ``StructuredValue``.
      output_specs: another one; a ``none_value`` where the outputs are not known beforehand.
      streams: *ours*: whether its results come one by one.
    """

    method: str = ""
    input_specs: bytes = b""
    output_specs: bytes = b""
    streams: bool = False


@record
class ListRequest:
    open_session: bool = False
    """*Ours*: the caller wants its calls remembered."""


@record
class ListResponse:
    registered_methods: tuple[RegisteredMethod, ...] = ()
    session: int = 0
    """*Ours*: a new session; 0 from TensorFlow."""


@record
class CallRequest:
    """One call.

    Attributes:
      method: a registered name.
      input_tensors: the flat arguments.
      session: *ours*: where the call is remembered; 0 for nowhere.
      seq: *ours*: its number in the session, from 1 on; a repetition has the same one.
      floor: *ours*: the caller has done with all calls of the session before this one.
      timeout_ns: *ours*: how long the caller waits; 0 for as long as it takes.
    """

    method: str = ""
    input_tensors: Tensors = ()
    session: int = 0
    seq: int = 0
    floor: int = 0
    timeout_ns: int = 0


@record
class CallResponse:
    """What a call gave, or one item of a stream.

    Attributes:
      output_tensors: the flat results.
      structure: *ours*: their nest, where the output specs are not known beforehand.
      refusal: *ours*: why there are none.
    """

    output_tensors: Tensors = ()
    structure: bytes = b""
    refusal: Refusal = Refusal.NONE

    @property
    def size(self) -> int:
        """The bytes that it holds."""
        return sum(map(len, self.output_tensors))


@record
class FetchItemsRequest:
    """*Ours*: a stream's items from ``ordinal`` on; those before are given back."""

    session: int = 0
    seq: int = 0
    ordinal: int = 0
    bytes_max: int = 0


@record
class FetchItemsResponse:
    """*Ours*: ``ended``: the items here are the last ones."""

    items: tuple[CallResponse, ...] = ()
    ended: bool = False
    refusal: Refusal = Refusal.NONE


@record
class CancelCallRequest:
    """*Ours*: the caller no longer wants this call."""

    session: int = 0
    seq: int = 0


@record
class CancelCallResponse:
    pass


@record
class EndSessionRequest:
    """*Ours*: the caller ends; its calls and streams are given up."""

    session: int = 0


@record
class EndSessionResponse:
    pass
