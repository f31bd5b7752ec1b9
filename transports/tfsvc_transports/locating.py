"""Peers that are looked up: the machines keep one name for the dispatcher, wherever it is."""

from __future__ import annotations

from tfsvc.errors import Code, OpError, Outcome, RpcError
from tfsvc.protocol.ids import Address
from tfsvc.protocol.messages import Request, Response
from tfsvc.service.discovery import is_locator, resolve
from tfsvc_transports.transport import Answer, Handler, Transport


class Locating:
    """A ``Transport`` that is another one, but for peers that are named by a locator.

    Args:
      direct: reaches addresses.
    """

    def __init__(self, direct: Transport) -> None:
        self._direct = direct
        self._known: dict[Address, Address] = {}
        self._doubted: dict[Address, None] = {}

    def serve(self, host: str, port: int, handler: Handler) -> int:
        return self._direct.serve(host, port, handler)

    def call(self, peer: Address, request: Request, timeout_ns: int, done: Answer) -> None:
        if not is_locator(peer):
            self._direct.call(peer, request, timeout_ns, done)
            return
        try:
            address = self._find(peer)
        except OpError as error:
            done(RpcError(Code(error.error_code), error.message, Outcome.UNREACHED))
            return

        def ended(answer: Response | RpcError) -> None:
            if isinstance(answer, RpcError) and answer.outcome is not Outcome.FAILED:
                self._doubted[peer] = None
            done(answer)

        self._direct.call(address, request, timeout_ns, ended)

    def close(self) -> None:
        self._direct.close()

    def _find(self, peer: Address) -> Address:
        """Where the peer is; where it was, if that cannot be looked up now."""
        if peer not in self._known or peer in self._doubted:
            try:
                self._known[peer] = Address(resolve(peer))
            except OpError:
                if peer not in self._known:
                    raise
            self._doubted.pop(peer, None)
        return self._known[peer]
