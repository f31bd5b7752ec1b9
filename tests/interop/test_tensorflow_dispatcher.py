"""TensorFlow's dispatcher with our workers and readers: our datasets travel in graphs that it takes for its own."""

from __future__ import annotations

import pytest

from tests.interop.test_service_with_tensorflow import run

pytestmark = [pytest.mark.interop, pytest.mark.slow, pytest.mark.timeout(120)]

SETUP = """
import tempfile
dispatcher.stop()
def cluster(workers, **config):
    config.setdefault("worker_addresses", None)
    made = theirs.DispatchServer(theirs.DispatcherConfig(**config))
    address = made.target.split("://")[1]
    mine = [ours.WorkerServer(ours.WorkerConfig(address, heartbeat_interval_ms=100)) for _ in range(workers)]
    return made, mine
def read(dataset, mode, dispatcher, **more):
    return dataset.apply(ours.distribute(mode, dispatcher.target, task_refresh_interval_hint_ms=50, **more))
"""


def test_every_policy_gives_what_it_says():
    run(
        SETUP
        + """
service, workers = cluster(2, worker_addresses=["localhost:%port%"] * 2)
data = tfsvc.data.Dataset
made = data.range(3, 203, 2).map(lambda x: {"n": x, "text": str(x)})
numbers = lambda dataset: sorted(int(e["n"]) for e in dataset)
odd = list(range(3, 203, 2))
assert numbers(read(made, "distributed_epoch", service)) == odd
assert numbers(read(made, "parallel_epochs", service)) == sorted(2 * odd)
assert numbers(read(made, ours.ShardingPolicy.DATA, service)) == odd
assert numbers(read(made.shuffle(50), ours.ShardingPolicy.DATA, service)) == odd
assert numbers(read(made, "distributed_epoch", service).repeat(3)) == sorted(3 * odd)
both = data.range(10).concatenate(data.range(100, 110)).repeat(2)
assert sorted(map(int, read(both, "distributed_epoch", service))) == sorted(2 * [*range(10), *range(100, 110)])
"""
    )


def test_datasets_kept_in_files_are_asked_for():
    run(
        SETUP
        + """
service, workers = cluster(1, work_dir=tempfile.mkdtemp(), fault_tolerant_mode=True)
assert [int(x) for x in read(tfsvc.data.Dataset.range(100), "parallel_epochs", service)] == list(range(100))
zipped = tfsvc.data.Dataset.zip((tfsvc.data.Dataset.range(20), tfsvc.data.Dataset.range(20)))
assert [(int(a), int(b)) for a, b in read(zipped, "distributed_epoch", service)] == [(i, i) for i in range(20)]
"""
    )


@pytest.mark.parametrize("compression", ["AUTO", None])
def test_a_tensorflow_reader_reads_our_dataset_from_our_worker(compression):
    run(
        SETUP
        + f"""
service, workers = cluster(1)
made = tfsvc.data.Dataset.range(50).map(lambda x: (x, str(x)))
name = ours.register_dataset(service.target, made, compression={compression!r})
for mode in ("parallel_epochs", "distributed_epoch"):
    got = list(theirs.from_dataset_id(mode, service.target, name).as_numpy_iterator())
    assert got == [(i, str(i).encode()) for i in range(50)], got[:3]
"""
    )


def test_rounds_and_the_trainers_cache():
    run(
        SETUP
        + """
from concurrent.futures import ThreadPoolExecutor
service, workers = cluster(2)
made = tfsvc.data.Dataset.counter()
together = lambda i: {"job_name": "r", "consumer_index": i, "num_consumers": 2}
readers = [iter(read(made, "parallel_epochs", service, **together(i))) for i in (0, 1)]
with ThreadPoolExecutor() as pool:
    one, other = pool.map(lambda reader: [int(next(reader)) for _ in range(20)], readers)
assert all(b == a + 1 for a, b in zip(one, other)), (one, other)
service, workers = cluster(1)
for trainer in "ab":
    cache = ours.CrossTrainerCache(trainer_id=trainer)
    iterator = iter(read(made, "parallel_epochs", service, job_name="c", cross_trainer_cache=cache))
    assert [int(next(iterator)) for _ in range(50)] == list(range(50))
"""
    )


def test_what_it_cannot_do_is_refused_by_name():
    run(
        SETUP
        + """
service, workers = cluster(1)
made = tfsvc.data.Dataset.range(10)
for broken, kind, words in (
    (lambda: list(read(made, "distributed_epoch", service, deterministic=True)), "UnimplementedError", "fixed order"),
    (lambda: tfsvc.data.experimental.distributed_save(made, tempfile.mkdtemp() + "/s", service.target),
     "UnimplementedError", "one of tfsvc"),
    (lambda: ours.recommended_workers(service.target), "UnimplementedError", ""),
):
    try:
        broken()
    except getattr(tfsvc.errors, kind) as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
"""
    )


def test_a_dataset_of_tensorflows_is_refused_by_our_worker():
    run(
        SETUP
        + """
service, workers = cluster(1)
try:
    list(tf.data.Dataset.range(10).apply(theirs.distribute("parallel_epochs", service.target)))
except tf.errors.OpError as error:
    assert "TensorFlow" in str(error), error
else:
    raise AssertionError("our worker has no TensorFlow")
"""
    )
