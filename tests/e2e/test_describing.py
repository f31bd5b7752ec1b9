"""A real cluster is asked what it looks like."""

from __future__ import annotations

import json
import os
import platform
import time
from dataclasses import asdict
from functools import partial
from itertools import pairwise

import pytest

import tfsvc as tf
from tests import soon
from tfsvc.data.experimental import service
from tfsvc.errors import UnavailableError, UnimplementedError
from tfsvc.protocol.messages import AboutNodeRequest, AboutNodeResponse
from tfsvc.service.backend import backend

SLOW_S = 0.01

until = partial(soon.until, seconds=30)


def slowly(x):
    time.sleep(SLOW_S)
    return x


def told_after(age_s, target):
    """A description whose reader has spoken at that age or later."""
    until = time.monotonic() + 30
    while True:
        told = service.describe(target)
        (reader,) = told.readers
        if reader.consumption is not None and reader.consumption.age_ns >= age_s * 1e9:
            return told
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_reader_that_waits_is_seen_to_wait_as_long_as_a_hand_timer_says():
    with service.DispatchServer(service.DispatcherConfig(own_process=False)) as dispatcher:
        config = service.WorkerConfig(dispatcher.target, heartbeat_interval_ms=50, worker_tags=("gpu",))
        with service.WorkerServer(config):
            wish = service.distribute(
                "distributed_epoch", dispatcher.target, job_name="train", task_refresh_interval_hint_ms=50
            )
            iterator = iter(tf.data.Dataset.range(100_000).map(slowly).apply(wish))
            started, waited = time.monotonic(), 0.0
            for _ in range(100):
                began = time.monotonic()
                next(iterator)
                waited += time.monotonic() - began
            told = told_after(time.monotonic() - started, dispatcher.target)
            assert [worker.tags for worker in told.workers] == [("gpu",)]
            assert [(job.name, job.sharding_policy) for job in told.jobs] == [("train", "DYNAMIC")]
            (reader,) = told.readers
            assert reader.consumption is not None
            assert reader.consumption.elements <= 100
            assert reader.consumption.waited_ns / 1e9 == pytest.approx(waited, rel=0.3), "and a busy machine"
            assert told.tasks[0].processing_time_nsec >= SLOW_S * 1e9
            assert json.loads(json.dumps(asdict(told)))["tally"]["elements"] == told.tally.elements
            del iterator
            deadline = time.monotonic() + 10
            while service.describe(dispatcher.target).census.readers:
                assert time.monotonic() < deadline
            assert service.describe(dispatcher.target).tally.elements == 100


@pytest.fixture
def target():
    with (
        service.DispatchServer(service.DispatcherConfig(own_process=False)) as dispatcher,
        service.WorkerServer(service.WorkerConfig(dispatcher.target)),
    ):
        yield dispatcher.target


def test_a_slow_steady_trainer_is_counted_steadily_and_never_ahead_of_itself(target):
    wish = service.distribute("distributed_epoch", target, task_refresh_interval_hint_ms=50)
    iterator = iter(tf.data.Dataset.range(10_000).apply(wish))
    counts = [(0, 0)]
    for taken in range(1, 201):
        next(iterator)
        time.sleep(SLOW_S)
        if taken % 10 == 0:
            (reader,) = service.describe(target).readers
            counts.append((taken, reader.consumption.elements))
    assert all(told <= taken for taken, told in counts), counts
    assert sum(later > earlier for (_, earlier), (_, later) in pairwise(counts)) > len(counts) / 2, counts
    assert counts[-1][1] > 100, counts


def test_a_reader_that_is_looked_at_ends_when_its_iterator_is_let_go(target):
    iterator = iter(tf.data.Dataset.range(10_000).apply(service.distribute("parallel_epochs", target)))
    next(iterator)
    assert service.describe(target).census.readers == 1
    del iterator
    until(lambda: not service.describe(target).census.readers)


def test_who_is_no_dispatcher_says_so_and_tells_of_its_process_all_the_same():
    with (
        service.DispatchServer() as dispatcher,
        service.WorkerServer(service.WorkerConfig(dispatcher.target)) as worker,
    ):
        address = f"localhost:{worker.port}"
        with pytest.raises(UnimplementedError, match="ask the dispatcher"):
            service.describe(address)
        about = backend("grpc").ask(address, AboutNodeRequest(), 10**10)
    assert isinstance(about, AboutNodeResponse)
    assert (about.tfsvc, about.pid, about.python) == (tf.__version__, os.getpid(), platform.python_version())
    assert about.files_max >= about.files_open > 0
    assert abs(about.time_ns - time.time_ns()) < 10**11


def test_a_dispatcher_out_of_reach_is_a_typed_error_in_the_time_that_is_given():
    began = time.monotonic()
    with pytest.raises(UnavailableError):
        service.describe("localhost:1", timeout=0.5)
    assert time.monotonic() - began < 5
