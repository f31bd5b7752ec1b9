"""Workers that drain and services that end, on gRPC and with real processes: nothing is lost, and everything ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import tfsvc as tf
from tfsvc.data.experimental import service
from tfsvc.errors import FailedPreconditionError
from tfsvc.service.controlling import stop_service

COMMANDS = "from tfsvc_transports.commands.{0} import {0}; {0}()"


@pytest.fixture
def run():
    """Runs commands of the package as processes, and gives each with its first line."""
    children = []

    def start(command: str, *arguments: str) -> tuple[subprocess.Popen[str], str]:
        child = subprocess.Popen(
            [sys.executable, "-c", COMMANDS.format(command), *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        children.append(child)
        assert child.stdout is not None
        return child, child.stdout.readline() if command != "stop" else ""

    yield start
    for child in children:
        child.kill()
        child.communicate()


def worker(dispatcher, **more):
    return service.WorkerServer(service.WorkerConfig(dispatcher.target, heartbeat_interval_ms=100, **more))


def read(dispatcher, dataset, mode, **more):
    more.setdefault("task_refresh_interval_hint_ms", 50)
    return iter(dataset.apply(service.distribute(mode, dispatcher.target, **more)))


@pytest.fixture
def dispatcher():
    with service.DispatchServer() as made:
        yield made


def slowly(x):
    time.sleep(0.001)
    return x


@pytest.mark.parametrize("mode", ["distributed_epoch", "parallel_epochs"])
def test_a_worker_is_drained_in_the_middle_and_nothing_is_lost(dispatcher, mode):
    with worker(dispatcher) as one, worker(dispatcher):
        iterator = read(dispatcher, tf.data.Dataset.range(600).map(slowly), mode)
        got = [int(next(iterator)) for _ in range(50)]
        drained = ThreadPoolExecutor().submit(one.drain, 60)
        got += [int(x) for x in iterator]
        assert drained.result(60)
        assert one.join(0)
        assert sorted(got) == sorted((1 if mode == "distributed_epoch" else 2) * list(range(600)))
        assert dispatcher.num_workers() == 1


def test_a_worker_that_has_nothing_to_do_is_drained_at_once(dispatcher):
    one = worker(dispatcher)
    assert one.drain(60)
    assert one.drain(60)
    one.stop()
    assert dispatcher.num_workers() == 0


def test_a_worker_that_cannot_be_drained_in_time_says_so(dispatcher):
    with worker(dispatcher) as one:
        iterator = read(dispatcher, tf.data.Dataset.range(10**9), "parallel_epochs")
        next(iterator)
        assert not one.drain(0.5)
        assert one.join(0)
        del iterator


def test_consumers_lose_a_draining_worker_between_two_rounds(dispatcher):
    with worker(dispatcher) as one, worker(dispatcher):
        made = tf.data.Dataset.counter()
        arguments = {"job_name": "r", "num_consumers": 2}
        iterators = [read(dispatcher, made, "parallel_epochs", consumer_index=i, **arguments) for i in range(2)]
        rows = [[], []]
        rounds = [sys.maxsize]

        def steps(iterator, got):
            # Both end with the same round: one that is ahead would wait for the other.
            while len(got) < rounds[0]:
                got.append(int(next(iterator)))
            return got

        with ThreadPoolExecutor() as pool:
            ends = [pool.submit(steps, *each) for each in zip(iterators, rows, strict=True)]
            assert one.drain(60)
            rounds[0] = max(map(len, rows)) + 100
            first, other = (end.result(60) for end in ends)
        assert all(b == a + 1 for a, b in zip(first, other, strict=False))


def test_a_trainer_stops_the_whole_service():
    dispatcher = service.DispatchServer(service.DispatcherConfig(own_process=True))
    workers = [worker(dispatcher) for _ in range(2)]
    while dispatcher.num_workers() < 2:
        time.sleep(0.02)
    iterator = read(dispatcher, tf.data.Dataset.range(100), "distributed_epoch")
    got = [int(next(iterator))]
    stopping = ThreadPoolExecutor().submit(stop_service, dispatcher.target, 60.0)
    got += [int(x) for x in iterator]
    assert sorted(got) == list(range(100))
    stopping.result(60)
    for server in (*workers, dispatcher):
        assert server.join(10)
        server.stop()


def test_a_reader_whose_service_was_stopped_is_told(dispatcher):
    with worker(dispatcher):
        iterator = read(dispatcher, tf.data.Dataset.range(10**6).map(slowly), "parallel_epochs")
        next(iterator)
        stopping = ThreadPoolExecutor().submit(stop_service, dispatcher.target, 0.5)
        with pytest.raises(FailedPreconditionError, match="was stopped before this reader had all"):
            list(iterator)
        stopping.result(60)


@pytest.mark.slow
def test_commands_end_when_there_is_nothing_to_do(run):
    dispatcher, said = run("dispatcher", "--port", "0", "--exit-when-idle", "1")
    target = said.split()[-1]
    idle, _ = run("worker", target, "--exit-when-idle", "1")
    kept, _ = run("worker", target)
    dataset = tf.data.Dataset.range(100).apply(service.distribute("distributed_epoch", target))
    assert sorted(int(x) for x in dataset) == list(range(100))
    assert [child.wait(30) for child in (idle, kept, dispatcher)] == [0, 0, 0]


@pytest.mark.slow
def test_a_worker_process_that_is_told_to_end_drains_first(run):
    dispatcher, said = run("dispatcher", "--port", "0")
    target = said.split()[-1]
    only, _ = run("worker", target, "--drain", "60", "--tag", "spot")
    dataset = tf.data.Dataset.range(2000).map(slowly)
    iterator = iter(dataset.apply(service.distribute("parallel_epochs", target, task_refresh_interval_hint_ms=50)))
    got = [int(next(iterator))]
    only.send_signal(signal.SIGTERM)
    got += [int(x) for x in iterator]
    assert got == list(range(2000))
    assert only.wait(30) == 0
    stop, _ = run("stop", target)
    assert [stop.wait(30), dispatcher.wait(30)] == [0, 0]
