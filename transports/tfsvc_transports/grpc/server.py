"""The serving half: every call becomes one for the node's handler, which answers when it can.

A read of elements may be held for a second, and there may be many readers. So a call must not keep a
thread while it waits. gRPC's synchronous server can do that: a handler marked
``experimental_non_blocking`` gets a function to answer with, and a unary call is on the wire the same
as a stream of one response. At replies of 1 MiB it moves 980 MB/s to a synchronous client of another
process where ``grpc.aio`` moves 970, and nearly twice its small calls with eight in flight.

A large reply takes its time, so it is encoded and sent by a thread that does nothing else by then, never by the one
that has the machine's turn.
"""

from __future__ import annotations

import errno
import logging
import socket
import threading
import time
from collections.abc import Iterator
from concurrent import futures
from functools import partial
from typing import Final, cast

import grpc

from tfsvc.errors import Code, OpError, RpcError, UnavailableError
from tfsvc.protocol import messages as m
from tfsvc.protocol.ids import Address
from tfsvc.protocol.messages import CANCELLABLE, AboutNodeRequest, CallResponse, GetFramesResponse, Request, Response
from tfsvc.protocol.messages.cluster import RecvTensorResponse, RunGraphResponse, RunStepResponse
from tfsvc.wire.messages import METHODS, Method, decode, encode
from tfsvc.wire.parts import encode_in_parts
from tfsvc.wire.streams import encode_frames
from tfsvc_transports.about import about_node
from tfsvc_transports.deposits import Deposits
from tfsvc_transports.grpc import health, holding, reflection, threadless
from tfsvc_transports.grpc.admission import Admission
from tfsvc_transports.grpc.credentials import Credentials
from tfsvc_transports.grpc.intake import Intake, Later, Received
from tfsvc_transports.grpc.options import MEMORY, PARTS, server_options
from tfsvc_transports.grpc.status import ANSWERED, LATER, shortened, to_status
from tfsvc_transports.grpc.threadless import Send, Take
from tfsvc_transports.threads import Threads, lend
from tfsvc_transports.transport import Answer, Cancel, Handler

LOG = logging.getLogger("tfsvc")

THREADS_MAX: Final = 512
"""How many calls may be received or answered at once; those that only wait for an answer do not count."""
SMALL_BYTES: Final = 4096
"""An answer of so many bytes is sent by the thread that has it."""
SMALL_COUNT: Final = 16
"""So is one that tells of so few things."""
PARTED_MAX: Final = 128
"""So many answers may leave in parts at once, each with a thread that waits for its reader; others take one message."""
BRIEF: Final[frozenset[type]] = frozenset(
    {
        m.ClientHeartbeatRequest,
        m.GetSplitRequest,
        m.GetVersionRequest,
        m.LeaseSplitsRequest,
        m.OpenLaneRequest,
        m.WorkerHeartbeatRequest,
        m.WorkerUpdateRequest,
    }
)
"""What a dispatcher is asked all the time and answers soon: if small, it is handled on the server's thread, since a
switch to another would cost more."""
READY: Final = 4
"""How many threads take the work as long as none of them is held up by a slow peer."""

_BY_PATH: Final = {method.path: method for method in METHODS.values()}

SEND_S: Final = 0.5
"""How long answers may take to be sent when the server closes."""
RELEASE_S: Final = 0.5
"""How long the system may take to free the port of a process that has ended."""


class Server:
    """A bound port that hands all calls to one handler.

    Args:
      host: the interface.
      port: the port; 0 for a free one.
      handler: takes the calls.
      credentials: what it shows, and whom it lets in.
      shares_memory: whether elements go to the memory of a reader on this host that offers some.

    Raises:
      UnavailableError: if the address cannot be had.
      InvalidArgumentError: if it has no certificate, though it is to be asked with TLS.
    """

    def __init__(
        self, host: str, port: int, handler: Handler, credentials: Credentials, shares_memory: bool = True
    ) -> None:
        limits = credentials.security.limits
        self._threads = Threads("tfsvc-grpc", READY, THREADS_MAX)
        self._answers = _Answers(self._threads, Deposits() if shares_memory else None)
        intake = Intake(limits, partial(threadless.receive, self._threads))
        self._server = grpc.server(
            cast(futures.ThreadPoolExecutor, self._threads),
            handlers=[_Calls(handler, self._answers, intake, self._threads)],
            interceptors=[Admission(credentials)],
            options=server_options(limits),
        )
        name = f"[{host}]" if ":" in host and not host.startswith("[") else host
        try:
            _await_free(host.strip("[]"), port)
            self.port = credentials.bind(self._server, f"{name}:{port}")
        except (OSError, RuntimeError) as error:
            raise UnavailableError(
                message=f"cannot serve at {name}:{port}: {error}. Choose another port, or a host of this machine."
            ) from error
        reflection.offer(self._server)
        self._server.start()

    def close(self) -> None:
        """Sends the answers that were given, cuts off all other calls and frees the port before it returns."""
        self._answers.finish(SEND_S)
        self._server.stop(None).wait(2)
        self._threads.shutdown()


def _await_free(host: str, port: int) -> None:
    """Gives a process that has just ended a moment to let go of its port; raises like ``_check_free``."""
    until = time.monotonic() + RELEASE_S
    while True:
        try:
            _check_free(host, port)
            return
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() >= until:
                raise
            time.sleep(0.05)


def _check_free(host: str, port: int) -> None:
    """Refuses a port that another process has for one of the host's addresses; gRPC would share it.

    Raises:
      OSError: if it is in use, or the host is not known.
    """
    for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                probe.bind(address)
            except OSError as error:
                # Machines without IPv6 may still have a name for its loopback interface.
                if error.errno == errno.EADDRINUSE:
                    raise


class _Answers:
    """Answers on their way to gRPC, each on a thread that may be held up."""

    def __init__(self, threads: Threads, deposits: Deposits | None) -> None:
        self._threads = threads
        self._changed = threading.Condition()
        self._sending = 0
        self._partings = threading.Semaphore(PARTED_MAX)
        self._deposits = deposits

    def send(self, context: grpc.ServicerContext, send: Send, given: Response | RpcError) -> None:
        """Sends an answer, soon; a small one now, where that takes no time."""
        with self._changed:
            self._sending += 1
        if threadless.answers_at_once() and _is_small(given):
            self._send(context, send, given)
        else:
            self._threads.follow(partial(self._send, context, send, given))

    def finish(self, timeout_s: float) -> None:
        """Waits until those that were given are sent."""
        with self._changed:
            self._changed.wait_for(lambda: not self._sending, timeout_s)
        if self._deposits is not None:
            self._deposits.close()

    def _send(self, context: grpc.ServicerContext, send: Send, given: Response | RpcError) -> None:
        if not context.add_callback(self._sent):
            self._sent()  # nobody waits any more
            return
        asked = isinstance(given, GetFramesResponse) and _header(context, PARTS)
        parted = bool(asked) and self._partings.acquire(blocking=False)
        try:
            _answer(context, send, given, self._deposits, parted)
        finally:
            if parted:
                self._partings.release()

    def _sent(self) -> None:
        with self._changed:
            self._sending -= 1
            if not self._sending:
                self._changed.notify_all()


class _Calls(grpc.GenericRpcHandler):  # type: ignore[type-arg]
    """Finds the handler of each path."""

    def __init__(self, handler: Handler, answers: _Answers, intake: Intake, threads: Threads) -> None:
        self._known = {
            path: threadless.handler(
                _take(method, _about if method.request is AboutNodeRequest else handler, answers, intake, threads)
            )
            for path, method in _BY_PATH.items()
        }
        self._known[holding.PATH] = holding.handler()
        self._known[health.PATH] = health.handler(handler, intake)

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes] | None:
        return self._known.get(details.method)


def _about(peer: Address, request: Request, answer: Answer) -> Cancel:
    """Answers for the process, whatever machine it runs."""
    answer(about_node())
    return lambda: None


def _take(method: Method, handler: Handler, answers: _Answers, intake: Intake, threads: Threads) -> Take:
    cancellable = method.request in CANCELLABLE
    brief = method.request in BRIEF

    def take(messages: Iterator[bytes], context: grpc.ServicerContext, send: Send) -> None:
        peer = context.peer()

        def received(found: Received) -> None:
            match found:
                case bytes() as data if brief and len(data) <= SMALL_BYTES:
                    hand_in(data, peer, context, send)
                case bytes() as data:
                    lent = partial(lend, partial(hand_in, data, peer, context, send))
                    threads.run(partial(threadless.guard, context, lent))
                case RpcError() as error:
                    _answer(context, send, error)
                case Later(text):
                    _fail(context, send, RpcError(Code.RESOURCE_EXHAUSTED, text), LATER)
                case None:
                    pass

        intake.receive(method.request, peer, context, messages, received)

    def hand_in(data: bytes, peer: str, context: grpc.ServicerContext, send: Send) -> None:
        try:
            request: Request = decode(method.request, data)
        except OpError as error:
            _answer(context, send, RpcError(Code.INVALID_ARGUMENT, error.message))
            return
        cancel = handler(Address(peer), request, partial(answers.send, context, send))
        if cancellable and not context.add_callback(cancel):
            cancel()

    return take


def _is_small(given: Response | RpcError) -> bool:
    match given:
        case CallResponse():
            return given.size <= SMALL_BYTES
        case RunStepResponse(named) | RunGraphResponse(named):
            return sum(len(each.tensor) for each in named) <= SMALL_BYTES
        case RecvTensorResponse(tensor):
            return len(tensor) <= SMALL_BYTES
        case m.WorkerHeartbeatResponse():
            return not given.new_tasks and not given.snapshot_tasks
        case m.ClientHeartbeatResponse():
            return len(given.task_info) + len(given.lanes) <= SMALL_COUNT
        case m.LeaseSplitsResponse(lease):
            return len(lease.spans) <= SMALL_COUNT
        case m.GetSplitResponse() | m.GetVersionResponse() | m.WorkerUpdateResponse():
            return True
        case _:
            return False


def _answer(
    context: grpc.ServicerContext,
    send: Send,
    given: Response | RpcError,
    deposits: Deposits | None = None,
    parted: bool = False,
) -> None:
    """Sends an answer or an error, and ends the call; in several messages each leaves when the last is on its way."""
    if isinstance(given, RpcError):
        _fail(context, send, given, ANSWERED)
        return
    try:
        messages = _encode(context, given, deposits, parted)
        last = next(messages)
    except OpError as error:
        _fail(context, send, RpcError(Code(error.error_code), error.message), ANSWERED)
        return
    except Exception as error:
        LOG.exception("an answer could not be sent")
        _fail(context, send, RpcError(Code.INTERNAL, f"the answer could not be sent: {error}"), ANSWERED)
        return
    for message in messages:
        send(last)
        if not context.is_active():
            return
        last = message
    threadless.end(context, send, last)


def _header(context: grpc.ServicerContext, key: str) -> str:
    """What a header of a call says; empty if it is not there."""
    return next((str(value) for name, value in context.invocation_metadata() if name == key), "")


def _fail(context: grpc.ServicerContext, send: Send, error: RpcError, trailer: str) -> None:
    """Ends a call with an error."""
    ours = any(key == "user-agent" and "tfsvc" in str(value) for key, value in context.invocation_metadata())
    context.set_code(to_status(error.code))
    context.set_details(error.message if ours else shortened(error.message))
    context.set_trailing_metadata(((trailer, "1"),))
    threadless.end(context, send, None)


def _encode(context: grpc.ServicerContext, given: Response, deposits: Deposits | None, parted: bool) -> Iterator[bytes]:
    """The messages of an answer; the bodies of frames go to the reader's memory if it is within reach."""
    if isinstance(given, GetFramesResponse):
        offer = _header(context, MEMORY)
        places = deposits.put(offer, [frame.body for frame in given.frames]) if deposits is not None and offer else None
        if places is not None:
            yield encode_frames(given, places)
            return
        if parted:
            yield from encode_in_parts(given)
            return
    yield encode(given)
