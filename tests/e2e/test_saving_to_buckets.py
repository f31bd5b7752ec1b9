"""Distributed snapshots in a bucket, by real servers: as on a path."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

import tfsvc as tf
from tests.unit.transports.buckets import new_bucket, s3_server
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc.storage.bucket import Bucket
from tfsvc.storage.folders import _bucket
from tfsvc_transports.hosted import HostedDispatcher

service = tf.data.experimental.service
save = tf.data.experimental.distributed_save

pytestmark = pytest.mark.timeout(90)


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture
def bucket(s3, monkeypatch) -> str:
    monkeypatch.setattr("tfsvc.data.storing.RETRY_SECONDS", 0.05)
    return f"s3://{new_bucket(s3)}"


@pytest.fixture(scope="module")
def address(tmp_path_factory, s3) -> Iterator[str]:
    """A dispatcher with a journal, and two workers whose chunks are small."""
    work_dir = str(tmp_path_factory.mktemp("journal"))
    config = service.DispatcherConfig(work_dir=work_dir, fault_tolerant_mode=True, own_process=False)
    with ExitStack() as stack:
        dispatcher = stack.enter_context(service.DispatchServer(config))
        address = dispatcher.target.removeprefix("grpc://")
        for _ in range(2):
            stack.enter_context(worker(address))
        yield address


def worker(address: str):
    return service.WorkerServer(
        service.WorkerConfig(address, heartbeat_interval_ms=100, snapshot_max_chunk_size_bytes=400)
    )


def slowly(x):
    time.sleep(0.005)
    return x


def wait_for(path: str, address: str) -> None:
    until = time.monotonic() + 60
    while not service.snapshot_progress(path, address).done:
        assert time.monotonic() < until, f"{path} is not done in a minute"
        time.sleep(0.02)


@pytest.mark.parametrize("compression", ["AUTO", "GZIP", None])
def test_what_is_loaded_is_what_was_saved(address, bucket, compression):
    dataset = tf.data.Dataset.range(200).map(lambda x: {"n": x, "text": str(int(x))})
    save(dataset, f"{bucket}/some/where/", address, compression)
    wait_for(f"{bucket}/some/where", address)
    got = tf.data.Dataset.load(f"{bucket}/some/where")
    assert sorted((int(e["n"]), e["text"]) for e in got) == [(n, str(n).encode()) for n in range(200)]
    progress = service.snapshot_progress(f"{bucket}/some/where", address)
    assert (progress.elements, progress.streams) == (200, progress.streams_done)
    names = Bucket(bucket).names("some/where")
    assert sum(name.startswith("some/where/chunks/") for name in names) == progress.chunks > 1
    assert not [name for name in names if "/streams/" in name], "nothing is left of the writing"


def test_a_reader_waits_for_the_end(address, bucket):
    with pytest.raises(tf.errors.NotFoundError, match=rf"no dataset was saved to {bucket}/saved"):
        tf.data.Dataset.load(f"{bucket}/saved")
    save(tf.data.Dataset.range(100).map(slowly), f"{bucket}/saved", address)
    assert sorted(map(int, tf.data.Dataset.load(f"{bucket}/saved", wait=True))) == list(range(100))


def test_an_empty_dataset(address, bucket):
    save(tf.data.Dataset.range(0), bucket, address)
    wait_for(bucket, address)
    assert list(tf.data.Dataset.load(bucket)) == []


def test_what_is_there_already_is_left_alone(address, bucket):
    dataset = tf.data.Dataset.range(3)
    save(dataset, f"{bucket}/saved", address)
    with pytest.raises(tf.errors.AlreadyExistsError, match="already started or completed"):
        save(dataset, f"{bucket}/saved/", address)
    Bucket(bucket).put("full/object", b"body")
    with pytest.raises(tf.errors.AlreadyExistsError, match=rf"{bucket}/full already exists"):
        save(dataset, f"{bucket}/full", address)
    assert Bucket(bucket).names("full") == ["full/object"]


def test_a_function_that_fails_fails_the_snapshot(address, bucket):
    def bad(x):
        if x == 70:
            raise ValueError("seventy is too much")
        return x

    save(tf.data.Dataset.range(100).map(bad), f"{bucket}/saved", address)
    with pytest.raises(tf.errors.InvalidArgumentError, match="seventy is too much"):
        wait_for(f"{bucket}/saved", address)
    with pytest.raises(tf.errors.FailedPreconditionError, match="seventy is too much"):
        tf.data.Dataset.load(f"{bucket}/saved", wait=True)


def test_workers_and_dispatchers_that_die_lose_and_repeat_nothing(bucket):
    """Journal and snapshot in one bucket; a worker is killed and not replaced, and each life of the dispatcher too."""
    journal, path = f"{bucket}/journal", f"{bucket}/saved"
    life = HostedDispatcher("localhost", 0, DispatcherSettings(), journal)
    address = f"localhost:{life.port}"
    workers = [worker(address) for _ in range(2)]
    try:
        save(tf.data.Dataset.range(400).shuffle(100).map(slowly), path, address)
        for elements in (50, 200):
            while service.snapshot_progress(path, address).elements < elements:
                time.sleep(0.01)
            if elements == 50:
                workers.pop()._running().crash()
            life.kill()
            life = HostedDispatcher("localhost", life.port, DispatcherSettings(), journal)
        assert sorted(map(int, tf.data.Dataset.load(path, wait=True))) == list(range(400))
        assert service.snapshot_progress(path, address).elements == 400
    finally:
        life.stop()
        for one in workers:
            one.stop()


def test_a_bucket_that_is_not_there_is_told_at_once(address, s3):
    began = time.monotonic()
    with pytest.raises(tf.errors.FailedPreconditionError, match="the bucket s3://nonesuch cannot be used"):
        save(tf.data.Dataset.range(3), "s3://nonesuch/saved", address)
    assert time.monotonic() - began < 20


def test_a_bucket_out_of_reach_is_told_in_time(address, monkeypatch):
    _bucket.cache_clear()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    began = time.monotonic()
    with pytest.raises(tf.errors.FailedPreconditionError, match="the bucket s3://beyond cannot be used"):
        save(tf.data.Dataset.range(3), "s3://beyond/saved", address)
    assert time.monotonic() - began < 20


def test_without_obstore_it_says_what_to_install(address, monkeypatch):
    _bucket.cache_clear()
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"pip install 'tfsvc\[bucket\]'"):
        save(tf.data.Dataset.range(3), "s3://bucket/saved", address)
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"pip install 'tfsvc\[bucket\]'"):
        tf.data.Dataset.load("s3://bucket/saved")
    with pytest.raises(tf.errors.InvalidArgumentError, match="is of no kind that is known"):
        save(tf.data.Dataset.range(3), "ftp://host/saved", address)
