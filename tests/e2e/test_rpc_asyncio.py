"""Remote calls in an event loop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import tfsvc as tf
from tests.e2e.rpc_servers import INT, MS, Gate, connect, function, rpc, until, waiting


def test_the_client_of_asyncio(server):
    gate = Gate()
    server.register("wait", function(gate), max_concurrent=1, output_specs=INT)
    server.register("add_one", function(lambda x: tf.add(x, 1)))
    server.register("fail", function(lambda x: tf.constant([1, 2])[x]))
    server.register("count", function(lambda n: n))

    def up_to(n):
        yield from range(int(n))

    server.register("up_to", function(up_to))
    server.start()

    async def main() -> None:
        async with await rpc.AsyncClient.create("grpc", server.address, timeout_in_ms=MS) as client:
            found = await asyncio.gather(*(client.add_one(i) for i in range(20)))
            assert found == list(range(1, 21))
            assert await client.call("add_one", [5], INT) == 6
            assert [x async for x in client.up_to(5)] == [0, 1, 2, 3, 4]
            with pytest.raises(tf.errors.OpError):
                await client.fail(7)
            first = asyncio.create_task(client.wait(1))
            await asyncio.to_thread(until, lambda: gate.ran == 1)
            second = asyncio.create_task(client.wait(2))
            await asyncio.to_thread(until, lambda: waiting(server) == 1)
            second.cancel()
            await asyncio.to_thread(until, lambda: waiting(server) == 0)
            with pytest.raises(asyncio.CancelledError):
                await second
            gate.open.set()
            assert await first == 1
            assert gate.ran == 1
            gate.open.clear()
            with pytest.raises(tf.errors.DeadlineExceededError):
                await client.wait(3, timeout_in_ms=50)
            gate.open.set()

    asyncio.run(main())
    with pytest.raises(tf.errors.DeadlineExceededError):
        asyncio.run(rpc.AsyncClient.create("grpc", "localhost:1", timeout_in_ms=50))


def test_a_result_may_be_awaited_more_than_once(server):
    server.register("add_one", function(lambda x: tf.add(x, 1)))
    client = connect(server)

    async def main() -> list[int]:
        result = client.add_one(1)
        return [*await asyncio.gather(*(wait(result) for _ in range(3))), await result, result.get_value()]

    async def wait(result: Any) -> int:
        return await result  # type: ignore[no-any-return]

    assert asyncio.run(main()) == [2] * 5
