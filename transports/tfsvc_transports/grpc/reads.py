"""Reads: calls whose answers come in several messages, each on a thread that takes them as they come."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Final

import grpc

from tfsvc.errors import Code, OpError, RpcError
from tfsvc.protocol.messages import GetFramesResponse
from tfsvc.wire.parts import decode_parts
from tfsvc_transports.grpc.credentials import Headers
from tfsvc_transports.grpc.options import PARTS
from tfsvc_transports.grpc.status import from_call
from tfsvc_transports.threads import Threads

READS_MAX: Final = 64
"""So many answers of a process are taken in parts at once; further ones come in one message each."""
OVER_S: Final = 5.0
"""How long the end of a call may take that has brought its answer or its error."""


class Read:
    """A call on its way, and its answer once it has ended."""

    def __init__(self, call: grpc.CallIterator[bytes]) -> None:
        self._call = call
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
            self._answer = decode_parts(iter(self._call))
        except grpc.RpcError as error:
            # It is the call itself, which says why it failed, and would keep what it went through: other messages.
            error.with_traceback(None)
        except OpError as error:
            self._answer = RpcError(Code(error.error_code), error.message)
            self.cancel()
        # A call whose last events nobody has seen would keep a forked child waiting for them.
        self._over.wait(OVER_S)
        ended(self)


def begin(channel: grpc.Channel, path: str, data: bytes, timeout_s: float, headers: Headers) -> Read | None:
    """Makes a read; ``None`` if there are as many as there may be.

    Raises:
      ValueError: if the channel is closed.
    """
    if not _reads.places.acquire(blocking=False):
        return None
    try:
        return Read(channel.unary_stream(path, None, None)(data, timeout=timeout_s, metadata=(*headers, (PARTS, "1"))))
    except BaseException:
        _reads.places.release()
        raise


class _Reads:
    """Places for the reads of a process, and their threads."""

    def __init__(self) -> None:
        self.places = threading.Semaphore(READS_MAX)
        self._threads = Threads("tfsvc-read", READS_MAX, READS_MAX)

    def run(self, take: Callable[[], None]) -> None:
        """Runs what takes an answer, and frees its place."""

        def run() -> None:
            try:
                take()
            finally:
                self.places.release()

        self._threads.run(run)


_reads = _Reads()


def _forget() -> None:
    """A forked child has none of the threads, and no read is on its way there."""
    global _reads
    _reads = _Reads()


os.register_at_fork(after_in_child=_forget)
