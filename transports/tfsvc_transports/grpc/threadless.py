"""Calls without threads: what gRPC's API has a thread wait for comes to a function, on the thread of the server.

A handler of gRPC's runs on a thread of its own, and waits there for the message of its call, which the server's thread
brings. That is two switches between threads for each call, and they cost as much as half of all else. Here a handler
runs on the server's thread, which it must not hold up, and the message is brought to a function there. gRPC's public
API has no such way: what is used of its own lies in this module alone, and where a version of it lacks that, threads
wait as ever.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any, Final, TypeVar

import grpc

from tfsvc.errors import Code, RpcError
from tfsvc_transports.threads import Threads

LOG = logging.getLogger("tfsvc")

T = TypeVar("T")

Send = Callable[[bytes | None], None]
"""What gRPC gives a handler to answer with: a message, or ``None`` at the end."""
Take = Callable[[Iterator[bytes], grpc.ServicerContext, Send], None]
"""Takes a call, and returns at once."""
Came = Callable[[bytes | RpcError | None], None]
"""Takes the message of a call; an error if it has none, ``None`` if the call has ended."""


class _AtOnce(futures.ThreadPoolExecutor):
    """Runs what it is given on the thread that gives it, which raises nothing; gRPC asks for this class."""

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> futures.Future[T]:
        function(*args, **kwargs)
        return self._done

    def __init__(self) -> None:
        super().__init__(1)
        self._done: futures.Future[Any] = futures.Future()
        self._done.set_result(None)


_AT_ONCE: Final = _AtOnce()


def handler(take: Take) -> grpc.RpcMethodHandler[bytes, bytes]:
    """A handler whose ``take`` runs on the server's thread.

    A call has one message; that there might be more lets it be received here, rather than by gRPC.
    """

    def taking(messages: Iterator[bytes], context: grpc.ServicerContext, send: Send) -> None:
        take(messages, context, send)

    taking.experimental_non_blocking = True  # type: ignore[attr-defined]
    taking.experimental_thread_pool = _AT_ONCE  # type: ignore[attr-defined]
    return grpc.stream_stream_rpc_method_handler(taking)


def _internals(*names: str) -> Any:
    """gRPC's own module for servers, if this version of it has all that is used here."""
    try:
        found = importlib.import_module("grpc._server")
    except ImportError:
        return None
    return found if all(hasattr(found, name) for name in names) else None


_SERVER: Final = _internals("_status")
"""Answers a call that has one response: message and status at once, without waiting until they are sent."""
_RECEIVER: Final = _internals("_receive_message", "_is_rpc_state_active", "_RECEIVE_MESSAGE_TOKEN", "cygrpc")
"""Keeps the books of a message that is awaited."""


def answers_at_once() -> bool:
    """Whether ``end`` waits for nothing."""
    return _SERVER is not None


def end(context: grpc.ServicerContext, send: Send, data: bytes | None) -> None:
    """Ends a call, with its last message if it has one."""
    if _SERVER is not None:
        _SERVER._status(context._rpc_event, context._state, data)  # type: ignore[attr-defined]
        return
    if data is not None:
        send(data)
    send(None)


def receive(threads: Threads, context: grpc.ServicerContext, messages: Iterator[bytes], came: Came) -> None:
    """Has ``came`` called once the message of a call is there: on the server's thread, or else on one of these."""

    def come(data: bytes | RpcError | None) -> None:
        guard(context, lambda: came(data))

    if _RECEIVER is None:
        threads.run(lambda: come(_next(messages)))
    elif not _begin(_RECEIVER, context, come):
        threads.run(lambda: come(None))


def guard(context: grpc.ServicerContext, action: Callable[[], None]) -> None:
    """Does a part of a call's work; if that raises, the call ends, and the thread goes on."""
    try:
        action()
    except Exception:
        LOG.exception("a call could not be taken in")
        context.cancel()  # type: ignore[no-untyped-call]


def _begin(receiver: Any, context: Any, come: Came) -> bool:
    """Begins to receive, unless the call has ended."""
    call, state = context._rpc_event.call, context._state
    noted = receiver._receive_message(state, call, None)

    def arrived(event: Any) -> Any:
        ended = noted(event)
        data, state.request = state.request, None
        come(RpcError(Code.INVALID_ARGUMENT, "the call has no message") if data is None else data)
        return ended

    with state.condition:
        if not receiver._is_rpc_state_active(state):
            return False
        call.start_server_batch((receiver.cygrpc.ReceiveMessageOperation(0),), arrived)
        state.due.add(receiver._RECEIVE_MESSAGE_TOKEN)
    return True


def _next(messages: Iterator[bytes]) -> bytes | RpcError | None:
    try:
        return next(messages)
    except StopIteration:
        return RpcError(Code.INVALID_ARGUMENT, "the call has no message")
    except grpc.RpcError:
        return None
