"""Holding: a call that no server answers, so that a channel's thread lives on from one call to the next.

gRPC starts a thread for a channel with its first call, and ends it with the last that is under way. Where calls come
one after the other, that is a thread for each of them, a fifth of a millisecond. A peer that knows no such call says so
at once, and is not asked again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import grpc

from tfsvc.protocol.messages import CallRequest
from tfsvc.protocol.messages.cluster import RecvTensorRequest, RunCallableRequest, RunGraphRequest, RunStepRequest
from tfsvc_transports.grpc import forks, threadless
from tfsvc_transports.grpc.credentials import Headers

PATH: Final = "/tfsvc.ChannelService/Hold"

BRISK: Final[frozenset[type]] = frozenset(
    {CallRequest, RunStepRequest, RunCallableRequest, RunGraphRequest, RecvTensorRequest}
)
"""Requests that often come one after the other, and whose askers wait for each."""


class Holding:
    """The held call of one channel."""

    def __init__(self, channel: grpc.Channel, headers: Headers) -> None:
        self._channel = channel
        self._headers = headers
        self._kept = False

    def keep(self) -> None:
        """Holds the channel from now on, or again, unless the peer cannot."""
        if not self._kept:
            self._kept = True
            forks.begin(self._start, True, self._ended)

    def _start(self) -> grpc.CallFuture[bytes] | None:
        try:
            return self._channel.unary_unary(PATH, None, None).future(b"", metadata=self._headers)
        except (ValueError, RuntimeError):  # the channel was closed, or the interpreter ends
            return None

    def _ended(self, call: grpc.CallFuture[bytes] | None) -> None:
        self._kept = call is None or (not call.cancelled() and call.code() is grpc.StatusCode.UNIMPLEMENTED)


def handler() -> grpc.RpcMethodHandler[bytes, bytes]:
    """The server's part: it takes the call, but no message and no thread."""

    def hold(messages: Iterator[bytes], context: grpc.ServicerContext, send: Any) -> None:
        return

    return threadless.handler(hold)
