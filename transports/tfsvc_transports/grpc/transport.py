"""A node's gRPC: a server for each port it has, and a channel for each peer it asks."""

from __future__ import annotations

import threading
from typing import Final

import grpc

from tfsvc.errors import Code, OpError, Outcome, RpcError, from_exception
from tfsvc.protocol.ids import Address
from tfsvc.protocol.messages import GetFramesRequest, GetFramesResponse, Request, Response
from tfsvc.protocol.messages.cluster import RecvTensorRequest, RunGraphRequest, RunStepRequest
from tfsvc.service.security import Security, check_host
from tfsvc.wire.messages import METHODS, Method, decode, encode
from tfsvc.wire.parts import is_worth_parts
from tfsvc.wire.streams import decode_frames
from tfsvc_transports.grpc import forks, handshake, reads
from tfsvc_transports.grpc.allocating import keep_what_is_freed
from tfsvc_transports.grpc.credentials import Credentials
from tfsvc_transports.grpc.holding import BRISK, Holding
from tfsvc_transports.grpc.options import MEMORY
from tfsvc_transports.grpc.server import Server
from tfsvc_transports.grpc.status import from_call, hung_up
from tfsvc_transports.memory import Buffers, Offer
from tfsvc_transports.transport import Answer, Handler

_HELD: Final = (GetFramesRequest, RecvTensorRequest, RunGraphRequest, RunStepRequest)
"""What a peer may hold for long, and is the same when it is asked again."""

_CLOSED: Final = RpcError(Code.CANCELLED, "the caller was closed")

TIMEOUT_S_MAX: Final = 7 * 24 * 3600.0
"""gRPC's clock does not take times without end."""


class GrpcTransport:
    """A ``Transport`` on a network.

    Calls are made without a thread of their own: gRPC's thread for the channel hands in the answer.

    Args:
      security: how the node shows who it is, and whom it lets in.
      shares_memory: whether elements may go through shared memory between this node and others of its host.

    Raises:
      InvalidArgumentError: if ``security`` names a file that cannot be used.
    """

    def __init__(self, security: Security | None = None, shares_memory: bool = True) -> None:
        keep_what_is_freed()
        self._credentials = Credentials(Security() if security is None else security)
        self._buffers = Buffers() if shares_memory else None
        self._lock = threading.Lock()
        self._servers: list[Server] = []
        self._channels: dict[Address, tuple[grpc.Channel, Holding]] = {}
        self._bulky: set[Address] = set()
        """Peers whose last answer to a read was large."""
        self._closed = False
        self._abandoned = False

    def serve(self, host: str, port: int, handler: Handler) -> int:
        check_host(host, self._credentials.security)
        server = Server(host, port, handler, self._credentials, self._buffers is not None)
        self._servers.append(server)
        return server.port

    def call(self, peer: Address, request: Request, timeout_ns: int, done: Answer) -> None:
        method = METHODS[type(request)]
        found = self._channel(peer)
        if isinstance(found, RpcError):
            done(found)
            return
        channel, holding = found
        try:
            data = encode(request)
        except (OpError, TypeError, ValueError) as error:
            # A text that UTF-8 cannot express, say, or a number of more than 64 bits.
            done(from_exception(error, f"{type(request).__name__} cannot be sent"))
            return
        timeout_s = min(timeout_ns / 1e9, TIMEOUT_S_MAX)
        offer = self._offer(peer, request)
        headers = self._credentials.headers
        if offer is not None:
            headers += ((MEMORY, offer.header),)

        def start() -> grpc.CallFuture[bytes] | reads.Read | None:
            try:
                if isinstance(request, GetFramesRequest) and offer is None and peer in self._bulky:
                    read = reads.begin(channel, method.path, data, timeout_s, headers)
                    if read is not None:
                        return read
                return channel.unary_unary(method.path, None, None).future(data, timeout=timeout_s, metadata=headers)
            except ValueError:
                return None
            except RuntimeError:
                # Some Pythons start no thread any more once the interpreter ends. gRPC then keeps this call and
                # every later one for ever, and its channel must not be waited for.
                self._abandoned = True
                return None

        def ended(call: grpc.CallFuture[bytes] | reads.Read | None) -> None:
            outcome = _outcome(call, method, offer)
            if isinstance(request, GetFramesRequest):
                outcome = self._note_size(peer, outcome)
            if method.request in BRISK and not isinstance(outcome, RpcError):
                holding.keep()
            if isinstance(outcome, RpcError) and (address := hung_up(outcome)) is not None:
                handshake.examine(peer, address, self._credentials.security, outcome, done)
            else:
                done(outcome)

        forks.begin(start, isinstance(request, _HELD), ended)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            channels = tuple(self._channels.values())
            self._channels.clear()
        for server in self._servers:
            server.close()
        for channel, _ in channels:
            if not self._abandoned:
                channel.close()
        if self._buffers is not None:
            self._buffers.close()

    def _note_size(self, peer: Address, outcome: Response | RpcError) -> Response | RpcError:
        """Whether the next read of a peer takes its answer in parts: for small ones that costs more than it saves."""
        match outcome:
            case GetFramesResponse(frames) if frames:
                if is_worth_parts(frames):
                    self._bulky.add(peer)
                else:
                    self._bulky.discard(peer)
            case RpcError(Code.RESOURCE_EXHAUSTED, text) if peer not in self._bulky:
                self._bulky.add(peer)
                if self._buffers is not None:
                    self._buffers.decline(peer)  # it could not write there either
                return RpcError(Code.UNAVAILABLE, f"{text} It is asked for again, in parts.", Outcome.UNKNOWN)
        return outcome

    def _offer(self, peer: Address, request: Request) -> Offer | None:
        """Memory for the answer, where it may hold elements."""
        if self._buffers is None or not isinstance(request, GetFramesRequest) or not request.bytes_max:
            return None
        return self._buffers.offer(peer)

    def _channel(self, peer: Address) -> tuple[grpc.Channel, Holding] | RpcError:
        with self._lock:
            if self._abandoned or self._closed:
                return _CLOSED
            found = self._channels.get(peer)
            if found is None:
                channel = self._credentials.channel(peer)
                if isinstance(channel, RpcError):
                    return channel
                found = self._channels[peer] = channel, Holding(channel, self._credentials.headers)
            return found


def _outcome(
    call: grpc.CallFuture[bytes] | reads.Read | None, method: Method, offer: Offer | None
) -> Response | RpcError:
    """What a call that has ended, or could not be made, brought; ends its offer."""
    if isinstance(call, reads.Read):
        return call.outcome
    answered = call is not None and not call.cancelled() and call.code() is grpc.StatusCode.OK
    if call is None or not answered:
        if offer is not None:
            offer.abandon()
        return _CLOSED if call is None else from_call(call)
    try:
        if offer is not None:
            return _frames(call.result(), offer)
        response: Response = decode(method.response, call.result())
        return response
    except OpError as error:
        return RpcError(Code(error.error_code), error.message)


def _frames(data: bytes, offer: Offer) -> GetFramesResponse | RpcError:
    try:
        response = decode_frames(data, offer.view)
    except OSError as error:
        # A process may have so many files and so much mapped. The read is made again, without shared memory.
        offer.refuse()
        return RpcError(Code.UNAVAILABLE, f"shared memory cannot be mapped: {error}", Outcome.UNKNOWN)
    except OpError:
        offer.abandon()
        raise
    offer.settle(sum(len(frame.body) for frame in response.frames))
    return response
