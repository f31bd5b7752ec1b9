"""Distributed snapshots by real servers: every element once, whatever dies on the way."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import tfsvc as tf
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc_transports.hosted import HostedDispatcher

service = tf.data.experimental.service
save = tf.data.experimental.distributed_save

pytestmark = pytest.mark.timeout(90)


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    """A dispatcher with a journal, and three workers whose chunks are small."""
    work_dir = str(tmp_path_factory.mktemp("journal"))
    with ExitStack() as stack:
        config = service.DispatcherConfig(work_dir=work_dir, fault_tolerant_mode=True)
        dispatcher = stack.enter_context(service.DispatchServer(config))
        for _ in range(3):
            stack.enter_context(worker(dispatcher.target.removeprefix("grpc://")))
        yield dispatcher.target.removeprefix("grpc://")


def worker(address: str):
    return service.WorkerServer(
        service.WorkerConfig(address, heartbeat_interval_ms=100, snapshot_max_chunk_size_bytes=400)
    )


def wait(done: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + 60
    while not done():
        assert time.monotonic() < until, f"no {what} in a minute"
        time.sleep(0.01)


def loaded(path: Path) -> list[int]:
    wait((path / "DONE").exists, "DONE file")
    return [int(element) for element in tf.data.Dataset.load(str(path))]


def slowly(x):
    time.sleep(0.002)
    return x


@pytest.mark.parametrize(
    "dataset",
    [
        tf.data.Dataset.range(0),
        tf.data.Dataset.range(10),
        tf.data.Dataset.range(1000),
        tf.data.Dataset.range(300).repeat(3),
        tf.data.Dataset.range(500).shuffle(100),
        tf.data.Dataset.range(200).concatenate(tf.data.Dataset.range(1000, 1100)),
        tf.data.Dataset.range(100).flat_map(lambda x: tf.data.Dataset.range(x % 3)),
        tf.data.Dataset.zip((tf.data.Dataset.range(200), tf.data.Dataset.range(200))).map(lambda a, b: a),
    ],
    ids=["nothing", "few", "many", "repeated", "shuffled", "of two sources", "expanded", "zipped"],
)
def test_what_is_loaded_is_what_was_saved(address, tmp_path, dataset):
    path = tmp_path / "saved"
    save(dataset, path, address)
    assert Counter(loaded(path)) == Counter(map(int, dataset))
    assert not list(path.glob("streams/*/*")), "nothing is left of the writing"


@pytest.mark.parametrize("compression", ["AUTO", "SNAPPY", "GZIP", None])
def test_compressions(address, tmp_path, compression):
    dataset = tf.data.Dataset.range(30).map(lambda x: {"n": x, "text": str(int(x))})
    save(dataset, tmp_path / "saved", address, compression)
    wait((tmp_path / "saved" / "DONE").exists, "DONE file")
    got = list(tf.data.Dataset.load(str(tmp_path / "saved")))
    assert sorted((int(e["n"]), e["text"]) for e in got) == [(n, str(n).encode()) for n in range(30)]


def test_several_at_once(address, tmp_path):
    counts = [100, 200, 300, 400, 500]
    for count in counts:
        save(tf.data.Dataset.range(count).map(slowly), tmp_path / str(count), address)
    for count in counts:
        assert sorted(loaded(tmp_path / str(count))) == list(range(count))


def test_how_far_it_is(address, tmp_path):
    save(tf.data.Dataset.range(400).map(slowly), tmp_path / "saved", address)
    seen = [service.snapshot_progress(tmp_path / "saved", address)]
    while not seen[-1].done:
        time.sleep(0.02)
        seen.append(service.snapshot_progress(tmp_path / "saved", address))
    assert [p.elements for p in seen] == sorted(p.elements for p in seen)
    assert any(0 < p.elements < 400 for p in seen)
    last = seen[-1]
    assert (last.elements, last.splits, last.splits_total, last.streams) == (400, 400, 400, last.streams_done)
    assert last.chunks == len(list((tmp_path / "saved" / "chunks").iterdir()))


def test_a_function_that_fails_fails_the_snapshot(address, tmp_path):
    def bad(x):
        if x == 70:
            raise ValueError("seventy is too much")
        return x

    save(tf.data.Dataset.range(100).map(bad), tmp_path / "saved", address)
    wait((tmp_path / "saved" / "ERROR").exists, "ERROR file")
    assert "seventy is too much" in (tmp_path / "saved" / "ERROR").read_text()
    with pytest.raises(tf.errors.FailedPreconditionError, match="seventy is too much"):
        tf.data.Dataset.load(str(tmp_path / "saved"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="seventy is too much"):
        service.snapshot_progress(tmp_path / "saved", address)


def test_what_is_refused(address, tmp_path):
    dataset = tf.data.Dataset.range(3)
    save(dataset, tmp_path / "saved", address)
    with pytest.raises(tf.errors.AlreadyExistsError, match="already started or completed"):
        save(dataset, tmp_path / "saved", address)
    for there in ("empty", "full"):
        (tmp_path / there).mkdir()
    (tmp_path / "full" / "file").touch()
    for there in ("empty", "full"):
        with pytest.raises(tf.errors.AlreadyExistsError, match="already exists"):
            save(dataset, tmp_path / there, address)
    with pytest.raises(tf.errors.NotFoundError, match="knows no snapshot"):
        service.snapshot_progress(tmp_path / "full", address)
    with pytest.raises(tf.errors.InvalidArgumentError, match="infinite"):
        save(dataset.repeat(), tmp_path / "endless", address)
    with pytest.raises(tf.errors.InvalidArgumentError, match="compression"):
        save(dataset, tmp_path / "other", address, "ZIP")
    with pytest.raises(tf.errors.UnimplementedError):
        save(dataset.snapshot(str(tmp_path / "inner")), tmp_path / "other", address)
    with pytest.raises(ValueError, match="must be a string"):
        save(dataset, tmp_path / "other", 3)
    with pytest.raises(ValueError, match="must not be empty"):
        save(dataset, tmp_path / "other", "")
    assert not (tmp_path / "other").exists()


def test_a_dispatcher_that_forgets_refuses(two_workers, tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="fault tolerant mode"):
        save(tf.data.Dataset.range(3), tmp_path / "saved", two_workers.target)


@pytest.mark.parametrize("dataset", [tf.data.Dataset.range(900), tf.data.Dataset.range(900).shuffle(200)])
def test_workers_and_dispatchers_that_die_lose_and_repeat_nothing(tmp_path, dataset):
    """Each life of the dispatcher is killed; a worker is killed and not replaced, another one is replaced."""
    journal, path = str(tmp_path / "journal"), tmp_path / "saved"
    life = HostedDispatcher("localhost", 0, DispatcherSettings(), journal)
    address = f"localhost:{life.port}"
    workers = [worker(address) for _ in range(3)]
    try:
        save(dataset.map(slowly), path, address)
        for elements in (100, 300, 500):
            wait(lambda at=elements: service.snapshot_progress(path, address).elements >= at, f"{elements} elements")
            if workers:
                workers.pop()._running().crash()
            if elements == 300:
                workers.append(worker(address))
            life.kill()
            life = HostedDispatcher("localhost", life.port, DispatcherSettings(), journal)
        assert sorted(loaded(path)) == list(range(900))
        progress = service.snapshot_progress(path, address)
        assert (progress.done, progress.elements) == (True, 900)
        with pytest.raises(tf.errors.AlreadyExistsError, match="already started or completed"):
            save(dataset, path, address)
    finally:
        life.stop()
        for one in workers:
            one.stop()
