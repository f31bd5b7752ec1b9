"""Which workers a reader reads from, on gRPC: those of its own process, those with tags, those of other processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import tfsvc as tf
from tfsvc.data.experimental import service
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError

REMOTE = """
import sys
import tfsvc as tf
service = tf.data.experimental.service
worker = service.WorkerServer(service.WorkerConfig(sys.argv[1], worker_tags=sys.argv[2:], heartbeat_interval_ms=100))
print(worker.port, flush=True)
sys.stdin.read()
worker.stop()
"""


@contextmanager
def remote(dispatcher, *tags: str) -> Iterator[str]:
    """A worker in another process; its address."""
    child = subprocess.Popen(
        [sys.executable, "-c", REMOTE, dispatcher.target, *tags],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert child.stdout is not None
    assert child.stdin is not None
    try:
        yield f"localhost:{child.stdout.readline().strip()}"
    finally:
        child.stdin.close()
        child.wait(20)
        child.stdout.close()


@contextmanager
def local(dispatcher, *tags: str, **more):
    config = service.WorkerConfig(dispatcher.target, worker_tags=tags, heartbeat_interval_ms=100, **more)
    with service.WorkerServer(config) as worker:
        yield worker


def read(dataset, mode, dispatcher, **more):
    more.setdefault("task_refresh_interval_hint_ms", 50)
    return [x.tolist() for x in dataset.apply(service.distribute(mode, dispatcher.target, **more))]


def where(_):
    """The process that made an element."""
    return os.getpid()


@pytest.fixture
def dispatcher():
    with service.DispatchServer() as made:
        yield made


@pytest.mark.slow
def test_local_reads_come_from_this_process_alone(dispatcher):
    made = tf.data.Dataset.range(40).map(where)
    with remote(dispatcher), local(dispatcher), local(dispatcher):
        assert set(read(made, "parallel_epochs", dispatcher, target_workers="local")) == {os.getpid()}
        assert len(read(made, "parallel_epochs", dispatcher, target_workers="LOCAL")) == 80
        assert len(set(read(made, "parallel_epochs", dispatcher))) == 2
        once = read(tf.data.Dataset.range(500), "distributed_epoch", dispatcher, target_workers="LOCAL")
        assert sorted(once) == list(range(500))
        fixed = read(
            tf.data.Dataset.range(100), "distributed_epoch", dispatcher, target_workers="LOCAL", deterministic=True
        )
        assert fixed == list(range(100))


@pytest.mark.slow
def test_workers_with_the_tag_colocated_work_for_their_own_process(dispatcher):
    made = tf.data.Dataset.range(10)
    with remote(dispatcher, "COLOCATED"), remote(dispatcher), local(dispatcher, "colocated", "gpu"):
        assert sorted(read(made, "parallel_epochs", dispatcher)) == sorted(2 * list(range(10)))
        assert len(read(made, "parallel_epochs", dispatcher, target_workers="ANY")) == 30
        assert len(read(made, "parallel_epochs", dispatcher, target_workers="LOCAL")) == 10
        assert sorted(read(made, "distributed_epoch", dispatcher)) == list(range(10))


@pytest.mark.slow
def test_where_workers_live_with_trainers_each_reads_its_own_shard():
    config = service.DispatcherConfig(worker_addresses=["localhost:%port%"] * 2, deployment_mode="COLOCATED")
    with service.DispatchServer(config) as dispatcher, remote(dispatcher), local(dispatcher):
        assert read(tf.data.Dataset.range(10), service.ShardingPolicy.DATA, dispatcher) == [1, 3, 5, 7, 9]
        both = read(tf.data.Dataset.range(10), service.ShardingPolicy.DATA, dispatcher, target_workers="ANY")
        assert sorted(both) == list(range(10))


def test_a_local_read_makes_no_call_over_the_network(dispatcher, monkeypatch):
    from tfsvc.protocol.messages import GetFramesRequest
    from tfsvc_transports.grpc.transport import GrpcTransport

    calls = []
    far = GrpcTransport.call
    monkeypatch.setattr(
        GrpcTransport,
        "call",
        lambda self, peer, request, *more: (calls.append(request), far(self, peer, request, *more))[1],
    )
    with local(dispatcher):
        assert len(read(tf.data.Dataset.range(100), "distributed_epoch", dispatcher)) == 100
        assert not any(isinstance(request, GetFramesRequest) for request in calls)
        assert (
            len(read(tf.data.Dataset.range(100), "distributed_epoch", dispatcher, data_transfer_protocol="grpc")) == 100
        )
        assert any(isinstance(request, GetFramesRequest) for request in calls)


def test_a_worker_that_stopped_is_near_no_more(dispatcher):
    with local(dispatcher):
        pass
    with pytest.raises(InvalidArgumentError, match="Local reads require local"):
        read(tf.data.Dataset.range(10), "parallel_epochs", dispatcher, target_workers="LOCAL")
    with pytest.raises(InvalidArgumentError, match="Static sharding policy <FILE_OR_DATA> requires local"):
        read(tf.data.Dataset.range(10), service.ShardingPolicy.FILE_OR_DATA, dispatcher, target_workers="LOCAL")


def test_what_cannot_be_is_refused(dispatcher):
    together = {"job_name": "j", "consumer_index": 0, "num_consumers": 1}
    with local(dispatcher), pytest.raises(InvalidArgumentError, match="Coordinated reads require non-local"):
        read(tf.data.Dataset.range(10), "parallel_epochs", dispatcher, target_workers="LOCAL", **together)
    with pytest.raises(ValueError, match="Unrecognized target workers 'NEAR'"):
        service.distribute("parallel_epochs", dispatcher.target, target_workers="NEAR")
    with pytest.raises(NotFoundError, match="'pigeon' is not available"):
        service.distribute("parallel_epochs", dispatcher.target, data_transfer_protocol="pigeon")
    with pytest.raises(InvalidArgumentError, match="deployment_mode must be one of 'COLOCATED', 'REMOTE', 'HYBRID'"):
        service.DispatcherConfig(deployment_mode="NEAR")
    with pytest.raises(FailedPreconditionError, match="Worker tags cannot be empty"):
        service.WorkerConfig("localhost:1", worker_tags=[""])


def test_readers_of_one_job_have_one_target(dispatcher):
    with local(dispatcher):
        made = tf.data.Dataset.range(1000)
        first = iter(made.apply(service.distribute("parallel_epochs", dispatcher.target, job_name="j")))
        next(first)
        with pytest.raises(InvalidArgumentError, match="Existing target workers: <AUTO>; got <LOCAL>"):
            read(made, "parallel_epochs", dispatcher, job_name="j", target_workers="LOCAL")
