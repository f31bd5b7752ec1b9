"""Static sharding by real servers: places, shares, and a worker that comes back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import tfsvc as tf
from tests.e2e.conftest import Service

service = tf.data.experimental.service
Dataset = tf.data.Dataset
Policy = service.ShardingPolicy


@pytest.fixture(scope="module")
def three_places() -> Iterator[Service]:
    with ExitStack() as stack:
        listed = service.DispatcherConfig(worker_addresses=["localhost:%port%"] * 3)
        dispatcher = stack.enter_context(service.DispatchServer(listed))
        config = service.WorkerConfig(dispatcher_address=dispatcher.target)
        workers = [stack.enter_context(service.WorkerServer(config)) for _ in range(3)]
        yield Service(dispatcher, workers)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for i in range(7):
        (tmp_path / str(i)).write_text("".join(f"{i}{j}\n" for j in range(5)))
    return [str(path) for path in sorted(tmp_path.iterdir())]


@pytest.mark.parametrize("policy", [Policy.FILE, Policy.DATA, Policy.FILE_OR_DATA])
def test_every_line_of_the_files_comes_once(three_places, files, policy):
    lines = tf.data.TextLineDataset(Dataset.from_tensor_slices(files).shuffle(7)).map(int).shuffle(9)
    for _ in range(2):
        assert sorted(three_places.read(lines, policy)) == [10 * i + j for i in range(7) for j in range(5)]


def test_a_hint_says_where_to_divide(three_places):
    hinted = Dataset.range(30).shard(tf.data.experimental.SHARD_HINT, 0).batch(4)
    assert sorted(map(len, three_places.read(hinted, Policy.HINT))) == [2, 2, 2, 4, 4, 4, 4, 4, 4]
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"ShardingPolicy\.HINT"):
        list(three_places.read(hinted, Policy.DATA))


def test_what_cannot_be_divided_is_refused_with_the_way_out(three_places, files):
    with pytest.raises(tf.errors.NotFoundError, match=r"range\(\).*ShardingPolicy\.DATA"):
        list(three_places.read(Dataset.range(9), Policy.FILE))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not enough for the required 3"):
        list(three_places.read(tf.data.TextLineDataset(files[:2]), Policy.FILE))


def test_readers_of_one_job_share_each_shard(three_places):
    read = three_places.read(Dataset.range(3000), Policy.DATA, job_name="shared")
    one, two = iter(read), iter(three_places.read(Dataset.range(3000), Policy.DATA, job_name="shared"))
    got = [next(one)]  # and perhaps all others are on their way to it, before the second has come
    assert sorted([*got, *two, *one]) == list(range(3000))


def test_a_worker_without_a_place_is_refused(three_places):
    with pytest.raises(RuntimeError, match="address is not configured") as refused:
        service.WorkerServer(service.WorkerConfig(dispatcher_address=three_places.target))
    assert isinstance(refused.value, tf.errors.FailedPreconditionError)
    assert "other workers are already running at the configured host" in str(refused.value)


def test_without_a_list_static_sharding_is_refused(two_workers):
    with pytest.raises(tf.errors.NotFoundError, match="not in the workers list"):
        list(two_workers.read(Dataset.range(9), Policy.DATA))


def test_a_share_waits_for_its_worker_and_comes_exactly_once(tmp_path):
    def slow(x: Any) -> Any:
        time.sleep(0.002)
        return x

    listed = service.DispatcherConfig(
        worker_addresses=["localhost:%port%"] * 2, work_dir=str(tmp_path), fault_tolerant_mode=True
    )
    with ExitStack() as stack:
        dispatcher = stack.enter_context(service.DispatchServer(listed))
        config = service.WorkerConfig(dispatcher_address=dispatcher.target)
        stack.enter_context(service.WorkerServer(config))
        gone = service.WorkerServer(config)
        dataset = Dataset.range(600).shuffle(50).map(slow)
        reader = iter(dataset.apply(service.distribute(Policy.DATA, dispatcher.target)))
        got = [next(reader) for _ in range(100)]
        port = gone.port
        gone.stop()
        got += [next(reader) for _ in range(100)]
        back = service.WorkerConfig(dispatcher_address=dispatcher.target, port=port)
        stack.enter_context(service.WorkerServer(back))
        got += reader
    assert sorted(got) == list(range(600))
