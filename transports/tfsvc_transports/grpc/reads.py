"""Reads: calls whose answers come in several messages, each on a thread that takes them as they come."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import Final

import grpc

from tfsvc.errors import Code, OpError, Outcome, RpcError
from tfsvc.protocol.messages import GetFramesResponse
from tfsvc.wire.parts import decode_parts
from tfsvc.wire.streams import Bodies
from tfsvc_transports.grpc.credentials import Headers
from tfsvc_transports.grpc.options import PARTS
from tfsvc_transports.grpc.status import from_call
from tfsvc_transports.memory import Offer
from tfsvc_transports.threads import Threads

READS_MAX: Final = 64
"""So many answers of a process are taken in parts at once; further ones come in one message each."""
OVER_S: Final = 5.0
"""How long the end of a call may take that has brought its answer or its error."""


class Read:
    """A call on its way, and its answer once it has ended."""

    def __init__(self, call: grpc.CallIterator[bytes], offer: Offer | None) -> None:
        self._call = call
        self._offer = offer
        self._answer: GetFramesResponse | RpcError | None = None
        self._over = threading.Event()
        if not call.add_callback(self._over.set):
            self._over.set()

    @property
    def outcome(self) -> GetFramesResponse | RpcError:
        """What it brought, once it has ended."""
        return from_call(self._call) if self._answer is None else self._answer

    def cancel(self) -> None:
        self._call.cancel()  # type: ignore[no-untyped-call]

    def add_done_callback(self, ended: Callable[[object], None]) -> None:
        """Takes the answer on a thread, and then calls ``ended`` there."""
        _reads.run(lambda: self._take(ended))

    def _take(self, ended: Callable[[object], None]) -> None:
        try:
            self._answer = take(iter(self._call), self._offer)
        except grpc.RpcError as error:
            # It is the call itself, which says why it failed, and would keep what it went through: offered memory.
            error.with_traceback(None)
        if isinstance(self._answer, RpcError):
            self.cancel()
        # A call whose last events nobody has seen would keep a forked child waiting for them.
        self._over.wait(OVER_S)
        ended(self)


def begin(
    channel: grpc.Channel, path: str, data: bytes, timeout_s: float, headers: Headers, offer: Offer | None
) -> Read | None:
    """Makes a read; ``None`` if there are as many as there may be.

    Raises:
      ValueError: if the channel is closed.
    """
    if not _reads.take_place():
        return None
    try:
        call = channel.unary_stream(path, None, None)(data, timeout=timeout_s, metadata=(*headers, (PARTS, "1")))
    except BaseException:
        _reads.free_place()
        raise
    return Read(call, offer)


def take(messages: Iterator[bytes], offer: Offer | None) -> GetFramesResponse | RpcError:
    """The answer that these messages are, its bodies perhaps in offered memory; ends the offer."""
    if offer is None:
        return _decode(messages, None)
    taken: GetFramesResponse | RpcError | None = None
    try:
        taken = _decode(messages, offer.view)
    except OSError as error:
        # A process may have so many files and so much mapped. The read is made again, without shared memory.
        offer.refuse()
        return RpcError(Code.UNAVAILABLE, f"shared memory cannot be mapped: {error}", Outcome.UNKNOWN)
    finally:
        if not isinstance(taken, GetFramesResponse):
            offer.abandon()
    if isinstance(taken, GetFramesResponse):
        offer.settle(sum(len(frame.body) for frame in taken.frames))
    return taken


def _decode(messages: Iterator[bytes], shared: Bodies | None) -> GetFramesResponse | RpcError:
    try:
        return decode_parts(messages, shared)
    except OpError as error:
        return RpcError(Code(error.error_code), error.message)


class _Reads:
    """Places for the reads of a process, and their threads."""

    def __init__(self) -> None:
        self._threads = Threads("tfsvc-read", READS_MAX, READS_MAX)
        self._lock = threading.Lock()
        self._count = 0

    def take_place(self) -> bool:
        with self._lock:
            free = self._count < READS_MAX
            self._count += free
            return free

    def free_place(self) -> None:
        with self._lock:
            self._count -= 1

    def run(self, take: Callable[[], None]) -> None:
        """Runs what takes an answer, and frees its place."""

        def run() -> None:
            try:
                take()
            finally:
                self.free_place()

        self._threads.run(run)


_reads = _Reads()


def _forget() -> None:
    """A forked child has none of the threads, and no read is on its way there."""
    global _reads
    _reads = _Reads()


os.register_at_fork(after_in_child=_forget)
