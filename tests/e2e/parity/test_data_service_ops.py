"""TensorFlow's ``data_service_ops_test``, row by row, where another test does not say the same already."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import tfsvc as tf
from tests.e2e.parity.conftest import Dataset, service
from tfsvc.errors import InvalidArgumentError, NotFoundError


@pytest.mark.parametrize("keeps", [False, True])
def test_distribute_basic(cluster, keeps):
    assert cluster.up(keeps=keeps).read(Dataset.range(10)) == list(range(10))


def test_shuffle_order(cluster):
    cluster.up(2)
    for seed, same in ((None, False), (10, True)):
        made = Dataset.range(100).shuffle(100, seed=seed)
        by_worker = collections.defaultdict(list)
        for i, element in enumerate(cluster.read(made.batch(100))):
            by_worker[i] = element
        assert (by_worker[0] == by_worker[1]) == same


def test_multiple_epochs(cluster):
    dataset = cluster.up().distribute(Dataset.range(3))
    assert [[int(x) for x in dataset] for _ in range(10)] == [[0, 1, 2]] * 10


def test_repeated_dataset(cluster):
    dataset = cluster.up().distribute(Dataset.range(10)).repeat(5)
    assert [int(x) for x in dataset] == list(range(10)) * 5


def test_concurrent_epoch(cluster):
    cluster.up()
    iterators = [iter(cluster.distribute(Dataset.range(10))) for _ in range(3)]
    rows = [tuple(int(next(iterator)) for iterator in iterators) for _ in range(10)]
    assert rows == [(i, i, i) for i in range(10)]


def test_multi_worker(cluster):
    assert sorted(cluster.up(3).read(Dataset.range(10))) == sorted(3 * list(range(10)))


def test_from_generator(cluster):
    def generate():
        yield from range(10)

    made = Dataset.from_generator(generate, output_signature=tf.TensorSpec((), tf.int64))
    assert cluster.up().read(made) == list(range(10))


def test_max_outstanding_requests(cluster):
    got = cluster.up(3).read(Dataset.range(10), max_outstanding_requests=1)
    assert sorted(got) == sorted(3 * list(range(10)))


def test_inside_function(cluster):
    cluster.up()

    @tf.function
    def read():
        return [int(x) for x in cluster.distribute(Dataset.range(10))]

    assert list(map(int, read())) == list(range(10))


@pytest.mark.parametrize(("name", "words"), [("", "must not be empty"), (np.array("j"), "must be a string")])
def test_empty_and_non_string_job_names(cluster, name, words):
    cluster.up()
    with pytest.raises(ValueError, match=words):
        cluster.distribute(Dataset.range(1), job_name=name)
    with pytest.raises(ValueError, match=words):
        service.from_dataset_id("parallel_epochs", cluster.dispatcher.target, "1000", job_name=name)


def test_different_job_names(cluster):
    cluster.up()
    assert [cluster.read(Dataset.range(10), job_name=name) for name in "ab"] == [list(range(10))] * 2


def test_shared_job_name_multi_iteration(cluster):
    cluster.up()
    one, other = (cluster.distribute(Dataset.range(10), job_name="j") for _ in range(2))
    assert [int(x) for x in one] == list(range(10))
    assert [int(x) for x in other] == []
    assert [int(x) for x in other] == list(range(10))
    assert [int(x) for x in one] == []


def test_shared_job_name_repeat(cluster):
    cluster.up()
    one, other = (iter(cluster.distribute(Dataset.range(100), job_name="j").repeat(3)) for _ in range(2))
    got = [int(next(iterator)) for _ in range(10) for iterator in (one, other)]
    got += [int(x) for iterator in (one, other) for x in iterator]
    assert sorted(got) == sorted(3 * list(range(100)))


def test_shared_job_name_repeat_empty_job(cluster):
    cluster.up()
    for _ in range(2):
        list(cluster.distribute(Dataset.range(10), job_name="j"))
    late = iter(cluster.distribute(Dataset.range(10), job_name="j").repeat())
    assert [int(next(late)) for _ in range(10)] == list(range(10))


def test_shared_job_name_multiple_epochs(cluster):
    dataset = cluster.up().distribute(Dataset.range(10), job_name="j")
    assert [[int(x) for x in dataset] for _ in range(5)] == [list(range(10))] * 5


def test_string_dataset_ids(cluster):
    cluster.up()
    name = service.register_dataset(cluster.dispatcher.target, Dataset.range(5), dataset_id="mine")
    assert name == "mine"
    for form in ("mine", b"mine"):
        read = service.from_dataset_id("parallel_epochs", cluster.dispatcher.target, form)
        assert [int(x) for x in read] == list(range(5))


def test_keep_client_alive_before_reading(cluster):
    import time

    cluster.up(client_timeout_ms=200, job_gc_check_interval_ms=20)
    iterator = iter(cluster.distribute(Dataset.range(5)))
    time.sleep(0.8)
    assert [int(x) for x in iterator] == list(range(5))


def test_distribute_from_interleave(cluster):
    cluster.up()
    made = Dataset.range(2).interleave(
        lambda _: cluster.distribute(Dataset.from_tensor_slices([0, 10])), cycle_length=2
    )
    assert sorted(int(x) for x in made) == [0, 0, 10, 10]


def test_zip_different_processing_modes(cluster):
    cluster.up()
    dynamic = cluster.distribute(Dataset.range(10), "distributed_epoch")
    whole = cluster.distribute(Dataset.range(10))
    assert [(int(a), int(b)) for a, b in Dataset.zip((dynamic, whole))] == [(i, i) for i in range(10)]


def test_zip_different_processing_modes_shared_job_name(cluster):
    cluster.up()
    dynamic = cluster.distribute(Dataset.range(10), "distributed_epoch", job_name="j")
    whole = cluster.distribute(Dataset.range(10), job_name="j")
    with pytest.raises(InvalidArgumentError, match="but found an existing job with diff"):
        list(Dataset.zip((dynamic, whole)))


def test_from_dataset_id_shared_jobs(cluster):
    cluster.up()
    names = [service.register_dataset(cluster.dispatcher.target, Dataset.range(i, i + 20)) for i in (0, 20)]
    got = [
        int(x)
        for name in names
        for x in service.from_dataset_id("parallel_epochs", cluster.dispatcher.target, name, job_name="j")
    ]
    assert sorted(got) == list(range(40))


def test_from_dataset_id_multiple_components(cluster):
    cluster.up()
    made = Dataset.range(3).map(lambda x: {"a": (x, x + 1), "b": x * 2})
    name = service.register_dataset(cluster.dispatcher.target, made)
    read = service.from_dataset_id("parallel_epochs", cluster.dispatcher.target, name)
    assert [(int(e["a"][0]), int(e["a"][1]), int(e["b"])) for e in read] == [(0, 1, 0), (1, 2, 2), (2, 3, 4)]


def test_from_dataset_id_not_registered(cluster):
    cluster.up()
    with pytest.raises(NotFoundError, match="Dataset id UnregisteredID not found"):
        service.from_dataset_id("parallel_epochs", cluster.dispatcher.target, "UnregisteredID")


def test_register_same_dataset_ids(cluster):
    cluster.up()
    got = []
    for _ in range(2):
        name = service.register_dataset(cluster.dispatcher.target, Dataset.range(10), dataset_id="same")
        read = service.from_dataset_id("parallel_epochs", cluster.dispatcher.target, name, job_name="j")
        got.append([int(x) for x in read])
    assert got == [list(range(10)), []]


def test_datasets_do_not_match(cluster):
    cluster.up()
    service.register_dataset(cluster.dispatcher.target, Dataset.range(10), dataset_id="same")
    with pytest.raises(InvalidArgumentError, match="Datasets with the same ID should have the same structure"):
        service.register_dataset(cluster.dispatcher.target, Dataset.from_tensor_slices(["a", "b"]), dataset_id="same")


def test_double_distribute(cluster):
    cluster.up()
    twice = cluster.distribute(cluster.distribute(Dataset.range(30)))
    assert sorted(int(x) for x in twice) == list(range(30))


def test_two_level_distribute(cluster, tmp_path):
    from tests.e2e.parity.conftest import Cluster

    first = cluster.up(3)
    second = Cluster(tmp_path / "second").up(1)
    try:
        made = first.distribute(Dataset.from_tensor_slices([[i, j] for i in range(6) for j in range(5)]))
        made = made.group_by_window(lambda row: int(row[0]), lambda _, rows: rows.batch(15), window_size=15)
        rows = second.read(made)
    finally:
        second.close()
    assert len(rows) == 6
    assert all(len({key for key, _ in batch}) == 1 for batch in rows)


def test_distribute_large_graph(cluster):
    large = np.zeros(8 << 20, np.uint8)
    assert cluster.up().read(Dataset.from_tensors(large).map(lambda x: x.nbytes)) == [8 << 20]


def test_batch_drops_all_elements(cluster):
    cluster.up(2)
    assert cluster.read(Dataset.range(10).batch(1000, drop_remainder=True)) == []
    assert cluster.read(Dataset.range(10).batch(1000)) == [list(range(10))] * 2


def test_variables(cluster):
    start = tf.Variable(10)
    assert cluster.up().read(Dataset.range(3).map(lambda x: x + start)) == [10, 11, 12]


def test_no_sharding_policy(cluster):
    assert cluster.up().read(Dataset.range(20), service.ShardingPolicy.OFF) == list(range(20))


def test_distribute_compression(cluster):
    cluster.up()
    assert cluster.read(Dataset.range(10), compression=None) == cluster.read(Dataset.range(10), compression="AUTO")
    with pytest.raises(ValueError, match="Invalid `compression` argument"):
        cluster.distribute(Dataset.range(10), compression="foo")


def test_explicit_protocols(cluster):
    cluster.up()
    assert cluster.read(Dataset.range(10), data_transfer_protocol="grpc") == list(range(10))
    with pytest.raises(NotFoundError, match="No credentials factory"):
        Dataset.range(1).apply(service.distribute("parallel_epochs", "grp://localhost:1"))


@pytest.mark.parametrize(("wrong", "words"), [(b"", "must be a string"), ("", "must not be empty")])
def test_distribute_wrong_addresses(cluster, wrong, words):
    with pytest.raises(ValueError, match=words):
        service.distribute("parallel_epochs", wrong)
    with pytest.raises(ValueError, match="ShardingPolicy"):
        service.distribute("invalid", "localhost:1")
