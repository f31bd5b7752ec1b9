"""What a call gives: ``StatusOrResult``, and the results of a stream one by one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator, Iterator
from typing import Any

from tfsvc.eager.functions import UNKNOWN
from tfsvc.errors import OpError, RpcError, to_exception
from tfsvc.execution.tensors import decode_result
from tfsvc.protocol.messages import CallResponse
from tfsvc.protocol.reading import EndOfData, Said
from tfsvc.protocol.rpc.wishes import Cancellation, NextItem
from tfsvc.service.backend import Result, RpcCaller


class StatusOrResult:
    """The outcome of a call, which may not be there yet; every method but :meth:`cancel` waits for it.

    ``await`` on it gives the value, or raises. Made by a call of a client's method.
    """

    def __init__(self, caller: RpcCaller, pending: Result, output_specs: Any) -> None:
        self._caller = caller
        self._pending = pending
        self._output_specs = output_specs
        self._lock = threading.Lock()
        self._outcome: CallResponse | RpcError | None = None

    def is_ok(self) -> bool:
        """Whether the call succeeded."""
        return not isinstance(self._wait(), RpcError)

    def get_error(self) -> tuple[int, str]:
        """The code and the text of its error; ``(0, "")`` if it succeeded."""
        outcome = self._wait()
        return (int(outcome.code), outcome.message) if isinstance(outcome, RpcError) else (0, "")

    def get_value(self) -> Any:
        """What the function gave.

        Raises:
          tf.errors.OpError: the function's error, or why it was not called or gave no answer.
          tf.errors.InvalidArgumentError: if the result is not of the ``output_specs``, too.
        """
        outcome = self._wait()
        if isinstance(outcome, RpcError):
            raise to_exception(outcome)
        return decode_result(outcome, self._output_specs)

    def cancel(self) -> None:
        """Gives up the call, which ends with ``CancelledError`` unless it is over.

        It does not begin if it has not begun yet; a function that runs is left to run.
        """
        self._caller.want(Cancellation(self._pending.token))

    def __await__(self) -> Generator[Any, None, Any]:
        yield from arrived(self._pending).__await__()
        return self.get_value()

    def _wait(self) -> CallResponse | RpcError:
        with self._lock:
            if self._outcome is None:
                found = self._pending.wait()
                assert isinstance(found, Said | RpcError), found
                self._outcome = found if isinstance(found, RpcError) else _response(found)
            return self._outcome


class ResultStream(Iterator[Any]):
    """The results of a function that gives them one by one; closing it ends the function.

    Made by a call of a method whose results stream.
    """

    def __init__(self, caller: RpcCaller, opened: Result, timeout_ns: int) -> None:
        self._caller = caller
        self._opened = StatusOrResult(caller, opened, None)
        self._token = opened.token
        self._timeout_ns = timeout_ns
        self._wanted: Result | None = None
        self._closed = False

    def __next__(self) -> Any:
        """The next result; Ctrl-C interrupts the wait for it, and nothing is lost by it.

        Raises:
          tf.errors.OpError: the function's error, or why there is no result.
        """
        if self._closed:
            raise StopIteration
        if not self._opened.is_ok():
            self._opened.get_value()
        if self._wanted is None:
            self._wanted = self.want_next()
        found = self._wanted.wait()
        self._wanted = None
        return self.taken(found)

    def want_next(self) -> Result:
        """Asks for the next result, whose answer :meth:`taken` takes."""
        return self._caller.want(NextItem(self._token, self._timeout_ns))

    def taken(self, found: Any) -> Any:
        """The result in the answer ``found``; raises as :meth:`__next__`."""
        match found:
            case Said():
                return decode_result(_response(found), UNKNOWN)
            case EndOfData():
                self.close()
                raise StopIteration
            case RpcError():
                raise to_exception(found)
            case _:
                raise AssertionError(found)

    @property
    def opened(self) -> StatusOrResult:
        """Whether the stream has begun."""
        return self._opened

    def close(self) -> None:
        """Ends the function, if it has not ended; further calls do nothing."""
        if not self._closed:
            self._closed = True
            self._caller.want(Cancellation(self._token))

    def __enter__(self) -> ResultStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            self.close()
        except OpError:  # in a forked child, which has no part in the stream
            return


def _response(said: Said) -> CallResponse:
    assert isinstance(said.response, CallResponse), said
    return said.response


async def arrived(pending: Result) -> None:
    """Waits within an event loop until a result is there, so that waiting for it does not block."""
    loop = asyncio.get_running_loop()
    event = asyncio.Event()

    def tell() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(event.set)

    pending.notify(tell)
    await event.wait()
