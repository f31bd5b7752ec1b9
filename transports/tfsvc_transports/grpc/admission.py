"""Who is let in: the token of a call is looked at first of all, before its message is read.

A call that is refused is answered as one with a stream of messages would be, since gRPC reads the message of any other
call before its handler is asked. So it costs its headers.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator
from typing import Any, Final

import grpc

from tfsvc_transports.grpc.credentials import AUTHORIZATION, Credentials

_REFUSAL: Final = (
    "this service asks for a token, and the call came {how}. Name the file that holds it, as Security(token_file=...), "
    "--token-file or TFSVC_TOKEN_FILE. TensorFlow's own clients and servers cannot send one."
)


class Admission(grpc.ServerInterceptor):  # type: ignore[type-arg]
    """Lets calls in that have the token, whichever handler they are for."""

    def __init__(self, credentials: Credentials) -> None:
        self._expected = tuple(value.encode() for _, value in credentials.headers)

    def intercept_service(
        self, continuation: Callable[[grpc.HandlerCallDetails], Any], details: grpc.HandlerCallDetails
    ) -> Any:
        if self._expected:
            shown = [value for key, value in details.invocation_metadata if key == AUTHORIZATION]
            if not self._is_right(shown):
                return _refusal(_REFUSAL.format(how="with a wrong one" if shown else "without"))
        return continuation(details)

    def _is_right(self, shown: list[str | bytes]) -> bool:
        given = [value.encode() if isinstance(value, str) else value for value in shown]
        # The time that it takes tells nothing of how much was right.
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected[0])


def _refusal(text: str) -> grpc.RpcMethodHandler[bytes, bytes]:
    def refuse(messages: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
        context.abort(grpc.StatusCode.UNAUTHENTICATED, text)

    return grpc.stream_unary_rpc_method_handler(refuse)
