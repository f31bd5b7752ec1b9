"""The shortest way: workers of this process are called directly, all others over the network."""

from __future__ import annotations

import os
from typing import Final, get_args

from tfsvc.protocol.ids import Address
from tfsvc.protocol.messages import Request, WorkerRequest
from tfsvc_transports.inprocess import InProcess, Network
from tfsvc_transports.transport import Answer, Handler, Transport

WORKERS: Final = Network()
"""The workers of this process, at the addresses under which readers know them."""

os.register_at_fork(after_in_child=WORKERS.clear)


class Nearby:
    """A ``Transport`` that is another one, but for workers of this process.

    Args:
      far: reaches everybody else.
      workers: who is near; the workers of this process by default.
    """

    def __init__(self, far: Transport, workers: Network = WORKERS) -> None:
        self._far = far
        self._workers = workers
        self._near = InProcess(workers)
        self._handler: Handler | None = None

    def serve(self, host: str, port: int, handler: Handler) -> int:
        self._handler = handler
        return self._far.serve(host, port, handler)

    def announce(self, address: Address) -> None:
        """Lets readers of this process call the node directly, which serves and is known at ``address``."""
        assert self._handler is not None, "it serves already"
        host, _, port = address.rpartition(":")
        self._near.serve(host, int(port), self._handler)

    def call(self, peer: Address, request: Request, timeout_ns: int, done: Answer) -> None:
        near = isinstance(request, get_args(WorkerRequest)) and self._workers.find(peer) is not None
        (self._near if near else self._far).call(peer, request, timeout_ns, done)

    def close(self) -> None:
        self._near.close()
        self._far.close()
