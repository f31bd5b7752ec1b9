"""TensorFlow's ``fault_tolerance_test``, row by row."""

from __future__ import annotations

import collections
import itertools
import socket
import threading
import time

import numpy as np
import pytest

from tests.e2e.parity.conftest import Dataset, service
from tfsvc.errors import InvalidArgumentError


def test_dispatcher_stop(cluster):
    iterator = iter(cluster.up(keeps=True).distribute(Dataset.range(100)))
    got = [int(next(iterator)) for _ in range(20)]
    cluster.dispatcher.stop()
    got += [int(next(iterator)) for _ in range(80)]
    assert got == list(range(100))


@pytest.mark.parametrize("mode", ["parallel_epochs", "distributed_epoch"])
@pytest.mark.parametrize("before", [0, 60, 200])
def test_dispatcher_restart(cluster, mode, before):
    """Before reading, while reading, and where all was read."""
    iterator = iter(cluster.up(keeps=True).distribute(Dataset.range(200), mode))
    got = [int(next(iterator)) for _ in range(before)]
    cluster.restart_dispatcher()
    got += [int(x) for x in iterator]
    assert got == list(range(200))


def test_dispatcher_restart_between_iterations(cluster):
    dataset = cluster.up(keeps=True).distribute(Dataset.range(50))
    assert [int(x) for x in dataset] == list(range(50))
    cluster.restart_dispatcher()
    assert [int(x) for x in dataset] == list(range(50))


def test_dispatcher_restart_during_distributed_epoch_repeat(cluster):
    iterator = iter(cluster.up(keeps=True).distribute(Dataset.range(100), "distributed_epoch").repeat(5))
    got = []
    for i in range(500):
        if i in (50, 250, 450):
            cluster.restart_dispatcher()
        got.append(int(next(iterator)))
    assert next(iterator, None) is None
    assert collections.Counter(got) == dict.fromkeys(range(100), 5)


def test_dispatcher_restart_with_multiple_datasets_and_many_restarts(cluster):
    cluster.up(keeps=True)
    datasets = []
    for i in range(5):
        datasets.append(cluster.distribute(Dataset.from_tensors(i).repeat(10)))
        cluster.restart_dispatcher()
    assert [[int(x) for x in dataset] for dataset in datasets] == [[i] * 10 for i in range(5)]


def test_dispatcher_and_worker_restart(cluster):
    dataset = cluster.up(keeps=True).distribute(Dataset.range(100).map(lambda x: x), "distributed_epoch")
    for _ in range(2):
        iterator = iter(dataset)
        got = [int(next(iterator)) for _ in range(10)]
        cluster.restart_dispatcher()
        cluster.restart_worker(0)
        got += [int(x) for x in iterator]
        assert sorted(got) == list(range(100))


def test_dispatcher_and_multi_worker_restart(cluster):
    iterator = iter(cluster.up(2, keeps=True).distribute(Dataset.range(100), "distributed_epoch"))
    cluster.restart_dispatcher()
    for number in range(2):
        cluster.restart_worker(number)
    assert sorted(int(x) for x in iterator) == list(range(100))
    cluster.restart_dispatcher()
    assert next(iterator, None) is None


def test_start_servers_late(cluster):
    with socket.socket() as found:
        found.bind(("localhost", 0))
        port = found.getsockname()[1]
    threading.Timer(0.5, lambda: cluster.up(1, port=port)).start()
    dataset = Dataset.range(10).apply(service.distribute("parallel_epochs", f"grpc://localhost:{port}"))
    assert [int(x) for x in dataset] == list(range(10))


def test_add_worker_mid_job(cluster):
    iterator = iter(cluster.up().distribute(Dataset.range(2000).map(lambda x: (time.sleep(0.0005), x)[1])))
    got = [int(next(iterator)) for _ in range(20)]
    cluster.add()
    got += [int(x) for x in iterator]
    assert sorted(got) == sorted(2 * list(range(2000)))


def test_remove_more_workers_than_max_outstanding_requests(cluster):
    made = Dataset.range(100_000)
    iterator = iter(cluster.up(5).distribute(made, max_outstanding_requests=1))
    for _ in range(500):
        next(iterator)
    for worker in cluster.workers[:4]:
        worker._server.crash()
    for _ in range(5000):
        next(iterator)


@pytest.mark.parametrize("same_port", [True, False])
def test_restart_worker(cluster, same_port):
    iterator = iter(cluster.up().distribute(Dataset.range(10**6).batch(1)))
    for i in range(100):
        assert next(iterator).tolist() == [i]
    cluster.restart_worker(0, same_port)
    for _ in range(10**6):
        if next(iterator).tolist() == [0]:
            break
    assert [next(iterator).tolist() for _ in range(50)] == [[i] for i in range(1, 51)]


def test_change_processing_mode_after_restart(cluster):
    cluster.up(keeps=True)
    first = iter(cluster.distribute(Dataset.range(1000), job_name="test"))
    next(first)
    cluster.restart_dispatcher()
    with pytest.raises(InvalidArgumentError, match="Tried to create job with name test"):
        cluster.read(Dataset.range(1000), "distributed_epoch", job_name="test")


def test_distribute_large_graph_then_register_worker(cluster):
    cluster.up(0)
    iterator = iter(cluster.distribute(Dataset.from_tensors(np.zeros(8 << 20, np.uint8)).map(lambda x: x.nbytes)))
    cluster.add()
    assert int(next(iterator)) == 8 << 20


STUCK = itertools.count()


def stuck_once(x):
    if x == 0 and next(STUCK) == 0:
        time.sleep(8)
    return x


def test_distribute_nonblocking_with_stuck_workers(cluster):
    """Of TensorFlow's ``multi_process_cluster_test``."""
    made = Dataset.range(1000).map(stuck_once)
    iterator = iter(cluster.up(3).distribute(made, max_outstanding_requests=1))
    began = time.monotonic()
    for _ in range(100):
        next(iterator)
    assert time.monotonic() - began < 6
