"""What an application wants of an RPC client."""

from __future__ import annotations

from tfsvc.protocol.messages import Tensors
from tfsvc.record import record


@record
class Listing:
    """The methods that the server has registered; waits for a server that is not there yet.

    Attributes:
      timeout_ns: how long to wait; 0 for as long as it takes.
    """

    timeout_ns: int = 0


@record
class Invocation:
    """One call.

    Attributes:
      method: a registered name.
      input_tensors: the serialized flat arguments.
      timeout_ns: how long to wait; 0 for as long as it takes.
      retry: whether to ask again when it is not known whether the call ran; servers of ours run it once.
      streams: whether its results come one by one, each by a ``NextItem``.
    """

    method: str
    input_tensors: Tensors = ()
    timeout_ns: int = 0
    retry: bool = False
    streams: bool = False


@record
class NextItem:
    """The next item of a stream.

    Attributes:
      stream: the token of its ``Invocation``.
      timeout_ns: how long to wait; 0 for as long as it takes.
    """

    stream: int
    timeout_ns: int = 0


@record
class Cancellation:
    """A call or a stream is no longer wanted.

    Attributes:
      of: the token of its ``Invocation``.
    """

    of: int


Wish = Listing | Invocation | NextItem | Cancellation
