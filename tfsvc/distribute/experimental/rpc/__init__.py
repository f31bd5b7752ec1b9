"""``tf.distribute.experimental.rpc``: remote calls of registered functions.

``Server`` and ``Client`` are TensorFlow's, on its wire format; ``AsyncClient`` is the client for asyncio.
"""

from tfsvc.distribute.experimental.rpc.aio import AsyncClient, AsyncStream
from tfsvc.distribute.experimental.rpc.client import Client, GrpcClient
from tfsvc.distribute.experimental.rpc.results import ResultStream, StatusOrResult
from tfsvc.distribute.experimental.rpc.server import GrpcServer, Server

__all__ = [
    "AsyncClient",
    "AsyncStream",
    "Client",
    "GrpcClient",
    "GrpcServer",
    "ResultStream",
    "Server",
    "StatusOrResult",
]
