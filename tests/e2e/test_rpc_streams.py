"""Results that come one by one."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest

import tfsvc as tf
from tests.e2e.rpc_servers import Gate, connect, function


def test_results_stream_as_they_are_made_and_end_with_their_reader(server):
    gate, closed = Gate(), threading.Event()

    def count(n):
        try:
            yield {"first": int(n)}
            gate(n)
            yield {"second": [1.5, b"text"]}
            while True:
                yield {}
        finally:
            closed.set()

    server.register("count", function(count))
    client = connect(server)
    with client.count(7) as stream:
        assert next(stream) == {"first": 7}
        gate.open.set()
        assert next(stream) == {"second": [1.5, b"text"]}
        assert not closed.is_set()
    assert closed.wait(10)
    assert list(stream) == []


def test_a_stream_of_many_items_and_one_that_fails(server):
    def numbers(n):
        yield from range(int(n))
        raise RuntimeError("that was all")

    server.register("numbers", function(numbers))
    client = connect(server)
    stream = client.numbers(1000)
    assert [next(stream) for _ in range(1000)] == list(range(1000))
    with pytest.raises(tf.errors.UnknownError, match="RuntimeError: that was all"):
        next(stream)
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(client.numbers(1.5))


def test_an_interrupted_wait_for_a_result_loses_none(server):
    gate = Gate()

    def numbers(n):
        yield gate(n)
        yield n + 1

    server.register("numbers", function(numbers))
    stream = connect(server).numbers(1)
    gate.begun.acquire()
    main = threading.main_thread()
    assert threading.current_thread() is main
    threading.Timer(0.3, signal.pthread_kill, (main.ident, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    gate.open.set()
    assert list(stream) == [1, 2]


def test_a_slow_reader_holds_up_the_function(server):
    made = []

    def chunks(n):
        for i in range(int(n)):
            made.append(i)
            yield np.zeros(1 << 17, np.float64)

    server.register("chunks", function(chunks))
    client = connect(server)
    stream = client.chunks(100)
    next(stream)
    time.sleep(0.5)
    assert len(made) < 30, "of items of 1 MiB a few are made ahead"
    assert sum(1 for _ in stream) == 99
