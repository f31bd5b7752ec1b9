"""What a driver needs of a transport: to be asked, and to ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tfsvc.errors import RpcError
from tfsvc.protocol.ids import Address
from tfsvc.protocol.messages import Request, Response

Answer = Callable[[Response | RpcError], None]
"""Takes the answer to one call; called once, from any thread, and never blocks for long."""

Cancel = Callable[[], None]
"""Says that nobody waits for the answer to a call any more; never blocks, and changes nothing once it is answered."""

Handler = Callable[[Address, Request, Answer], Cancel]
"""Takes a call of a peer and returns soon; the answer may be given now or later.

A transport calls what it returns if it learns that the caller waits no longer; it must do so for requests in
``messages.CANCELLABLE`` alone.
"""


class Transport(Protocol):
    """One node's way to its peers.

    A call is answered exactly once, even if its peer dies, its time runs out or the transport closes.
    """

    def serve(self, host: str, port: int, handler: Handler) -> int:
        """Lets peers call ``handler`` at ``host:port``, too, and returns the port, a free one for 0.

        Raises:
          OpError: if the address cannot be had.
        """
        ...

    def call(self, peer: Address, request: Request, timeout_ns: int, done: Answer) -> None:
        """Asks ``peer``; ``done`` takes the answer, or an ``RpcError`` that says whether the call may have run."""
        ...

    def close(self) -> None:
        """Frees the port and gives up all calls, at once; safe to repeat."""
        ...
