"""RPC servers within the test's process, and functions for them that wait until they are let go."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import tfsvc as tf
from tests import soon

rpc = tf.distribute.experimental.rpc
INT = tf.TensorSpec([], tf.int32)
MS = 20_000


def function(python: Any) -> Any:
    return tf.function(python, input_signature=[INT])


class Gate:
    """A function that waits until it is opened, and knows how often it ran."""

    def __init__(self) -> None:
        self.ran = 0
        self.open = threading.Event()
        self.begun = threading.Semaphore(0)

    def __call__(self, x: Any) -> Any:
        self.ran += 1
        self.begun.release()
        assert self.open.wait(20)
        return int(x)


until = partial(soon.until, seconds=20, every=0.005)


def waiting(server: Any) -> int:
    """How many calls of the method ``wait`` have not begun."""
    return server._running().view().waiting["wait"]  # type: ignore[no-any-return]


def connect(server: Any, **more: Any) -> Any:
    server.start()
    return rpc.Client.create("grpc", server.address, timeout_in_ms=MS, **more)
