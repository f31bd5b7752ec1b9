"""A call that a server has taken on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfsvc.errors import RpcError
from tfsvc.protocol.ids import CallId, Instant
from tfsvc.protocol.messages import CallResponse, Tensors
from tfsvc.protocol.rpc.streams import Stream

if TYPE_CHECKING:
    from tfsvc.protocol.rpc.sessions import Session


class Admitted:
    """One call, from its first request to its answer; repetitions of it wait for the same answer.

    Attributes:
      method: whose function it runs.
      inputs: its arguments, until it has run.
      since: when it was admitted.
      expires: when its caller has given up.
      asked: the requests that wait for the answer.
      answer: the answer, once there is one.
      session: where it is remembered, as long as it is.
      stream: its results, if they come one by one and it has begun.
    """

    __slots__ = ("answer", "asked", "expires", "inputs", "method", "session", "since", "stream")

    def __init__(self, method: str, asked: CallId | None, inputs: Tensors, since: Instant, expires: Instant) -> None:
        self.method = method
        self.inputs = inputs
        self.since = since
        self.expires = expires
        self.asked: list[CallId] = [] if asked is None else [asked]
        self.answer: CallResponse | RpcError | None = None
        self.session: Session | None = None
        self.stream: Stream | None = None

    @property
    def over(self) -> bool:
        """Whether it is answered for good."""
        return self.answer is not None and (self.stream is None or self.stream.ended)

    @property
    def size(self) -> int:
        """The bytes that its answer holds."""
        return self.answer.size if isinstance(self.answer, CallResponse) else 0
