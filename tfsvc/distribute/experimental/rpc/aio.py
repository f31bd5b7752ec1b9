"""The client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from tfsvc.distribute.experimental.rpc.connection import Connection, Listed
from tfsvc.distribute.experimental.rpc.results import ResultStream, StatusOrResult, arrived
from tfsvc.distribute.experimental.rpc.server import LAYER, check_layer
from tfsvc.service.security import Security


class AsyncClient:
    """A client of one server, within an event loop; :meth:`create` makes one.

    ``await client.multiply(a, b)`` gives the value, or raises; ``async for`` walks over what a method streams. A task
    that is cancelled cancels the call that it waits for.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @classmethod
    async def create(
        cls,
        rpc_layer: str,
        address: str,
        name: str = "",
        timeout_in_ms: int = 0,
        *,
        retry: bool = False,
        security: Security | None = None,
    ) -> AsyncClient:
        """A client with a coroutine for each registered method; the arguments and errors are ``Client.create``'s."""
        check_layer(rpc_layer)
        client = cls(Connection(LAYER, address, timeout_in_ms, retry, security))
        listing = client._connection.want_list()
        try:
            await arrived(listing)
        except BaseException:
            client.close()
            raise
        for method in client._connection.methods(listing.wait()):
            setattr(client, method.name, client._stream_of(method) if method.streams else client._call_of(method))
        return client

    async def call(self, method_name: str, args: Any = None, output_specs: Any = None, timeout_in_ms: int = 0) -> Any:
        """What a registered method gives; the arguments are those of ``Client.call``.

        Raises:
          tf.errors.OpError: the function's error, or why it was not called or gave no answer.
        """
        return await _value(self._connection.call(method_name, args, output_specs, timeout_in_ms))

    def stream(self, method_name: str, args: Any = None, timeout_in_ms: int = 0) -> AsyncStream:
        """The results of a method that gives them one by one."""
        return AsyncStream(self._connection.stream(method_name, args, timeout_in_ms))

    def close(self) -> None:
        """Gives up all calls and streams; further calls do nothing."""
        self._connection.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)

    def _call_of(self, method: Listed) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any, timeout_in_ms: int = 0) -> Any:
            method.check(args)
            return await _value(self._connection.call(method.name, args, method.output_specs, timeout_in_ms))

        return call

    def _stream_of(self, method: Listed) -> Callable[..., AsyncStream]:
        def stream(*args: Any, timeout_in_ms: int = 0) -> AsyncStream:
            method.check(args)
            return self.stream(method.name, args, timeout_in_ms)

        return stream


class AsyncStream(AsyncIterator[Any]):
    """The results of a function that gives them one by one; leaving ``async with`` ends the function."""

    def __init__(self, stream: ResultStream) -> None:
        self._stream = stream
        self._opened = False

    async def __anext__(self) -> Any:
        """The next result.

        Raises:
          tf.errors.OpError: the function's error, or why there is no result.
        """
        if not self._opened:
            await self._stream.opened
            self._opened = True
        pending = self._stream.want_next()
        try:
            await arrived(pending)
        except BaseException:
            self._stream.close()
            raise
        try:
            return self._stream.taken(pending.wait())
        except StopIteration:
            raise StopAsyncIteration from None

    def close(self) -> None:
        """Ends the function, if it has not ended; further calls do nothing."""
        self._stream.close()

    async def __aenter__(self) -> AsyncStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


async def _value(result: StatusOrResult) -> Any:
    """The value of a call, which ends with the task that waits for it."""
    try:
        return await result
    except BaseException:
        result.cancel()
        raise
