"""TensorFlow's ``metadata_test``, ``cross_trainer_cache_test`` and ``auto_shard_test``, where no other test says so."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

import tfsvc as tf
from tests.e2e.parity.conftest import Dataset, service
from tfsvc.errors import InvalidArgumentError

Policy = service.ShardingPolicy
INFINITE, UNKNOWN = tf.data.INFINITE_CARDINALITY, tf.data.UNKNOWN_CARDINALITY


@pytest.mark.parametrize("by_id", [False, True])
@pytest.mark.parametrize(
    ("make", "policies", "expected"),
    [
        (lambda: Dataset.range(10), tuple(Policy), UNKNOWN),
        (lambda: Dataset.range(0), tuple(Policy), 0),
        (lambda: Dataset.range(10).repeat(), (Policy.OFF, Policy.DYNAMIC, Policy.DATA), INFINITE),
        (lambda: Dataset.range(10).repeat(), (Policy.FILE, Policy.FILE_OR_DATA, Policy.HINT), UNKNOWN),
        (lambda: Dataset.range(10).filter(lambda x: True), tuple(Policy), UNKNOWN),
    ],
)
def test_cardinality(cluster, make, policies, expected, by_id):
    cluster.up()
    for policy in policies:
        if by_id:
            name = service.register_dataset(cluster.dispatcher.target, make())
            made = service.from_dataset_id(policy, cluster.dispatcher.target, name)
        else:
            made = cluster.distribute(make(), policy)
        assert int(made.cardinality()) == expected, policy


def test_coordinated_cardinality(cluster):
    made = cluster.up().distribute(Dataset.range(10), job_name="j", consumer_index=0, num_consumers=1)
    assert int(made.cardinality()) == INFINITE


@pytest.mark.parametrize("compression", ["AUTO", None])
def test_element_spec_comes_with_the_id(cluster, compression):
    cluster.up()
    name = service.register_dataset(cluster.dispatcher.target, Dataset.range(5), compression=compression)
    read = service.from_dataset_id("parallel_epochs", cluster.dispatcher.target, name)
    assert read.element_spec == tf.TensorSpec((), tf.int64)
    assert [int(x) for x in read] == list(range(5))


# --- the trainers' cache ---


def trainer(cluster, dataset, name, mode="parallel_epochs", **more):
    more.setdefault("job_name", "c")
    return iter(
        cluster.distribute(dataset, mode, cross_trainer_cache=service.CrossTrainerCache(trainer_id=name), **more)
    )


def take(iterator, count):
    return [int(next(iterator)) for _ in range(count)]


COUNT = Dataset.range(10**9).repeat()


def test_concurrent_trainers_see_equal_elements(cluster):
    cluster.up()
    trainers = [trainer(cluster, COUNT, f"t{i}") for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda one: take(one, 50), trainers)) == [list(range(50))] * 8


def test_shuffled_prefixes_are_identical(cluster):
    cluster.up()
    made = Dataset.range(10**6).shuffle(10**4).repeat()
    assert take(trainer(cluster, made, "a"), 50) == take(trainer(cluster, made, "b"), 50)


def test_the_same_trainer_reads_on(cluster):
    cluster.up()
    assert take(trainer(cluster, COUNT, "a"), 20)[-1] < take(trainer(cluster, COUNT, "a"), 1)[0]


def test_other_job_names_are_other_caches_and_no_cache_is_shared_without_one(cluster):
    cluster.up()
    for job in "xy":
        assert take(trainer(cluster, COUNT, "a", job_name=job), 10) == list(range(10))
    first = iter(cluster.distribute(COUNT, job_name="plain"))
    assert take(first, 10) == list(range(10))
    assert take(iter(cluster.distribute(COUNT, job_name="plain")), 1)[0] >= 10


@pytest.mark.parametrize("compression", ["AUTO", None])
def test_compression_of_the_cache(cluster, compression):
    cluster.up()
    for name in "ab":
        assert take(trainer(cluster, COUNT, name, compression=compression), 5) == list(range(5))


def test_dynamic_sharding_of_the_cache(cluster):
    cluster.up(2)
    one, other = (trainer(cluster, COUNT, name, "distributed_epoch") for name in "ab")
    assert set(take(one, 200)) & set(take(other, 200))


def test_a_job_has_a_cache_or_none(cluster):
    cluster.up()
    take(trainer(cluster, COUNT, "a"), 1)
    with pytest.raises(InvalidArgumentError, match="Existing cross-trainer cache: <enabled>; got <disabled>"):
        next(iter(cluster.distribute(COUNT, job_name="c")))


def test_what_the_cache_needs(cluster):
    cluster.up()
    with pytest.raises(ValueError, match="neither a fixed order nor rounds"):
        trainer(cluster, COUNT, "a", consumer_index=0, num_consumers=1)
    with pytest.raises(ValueError, match="non-empty trainer ID"):
        service.CrossTrainerCache(trainer_id="")


def test_restarts_of_worker_and_dispatcher(cluster):
    iterator = trainer(cluster.up(keeps=True), COUNT, "a")
    assert take(iterator, 100) == list(range(100))
    cluster.restart_dispatcher()
    assert take(iterator, 100) == list(range(100, 200))
    cluster.restart_worker(0)
    for _ in range(10**5):
        if int(next(iterator)) == 0:
            break
    # What was on its way from the worker's life before may come in between.
    again = [number for number in take(iterator, 120) if number < 100]
    assert again[:20] == list(range(1, 21))


# --- static sharding ---


def shards(cluster, count=5, ports="%port%"):
    return cluster.up(count, worker_addresses=[f"localhost:{ports}"] * count)


@pytest.mark.parametrize("ports", ["%port%", "%port_worker%"])
def test_any_and_named_ports(cluster, ports):
    shards(cluster, 3, ports)
    assert sorted(cluster.read(Dataset.range(20), Policy.DATA)) == list(range(20))


def test_invalid_ports(cluster):
    cluster.up(0, worker_addresses=["localhost:worker"])
    with pytest.raises(RuntimeError, match="address is not configured"):
        cluster.add()


def test_shard_hint(cluster):
    shards(cluster)
    hinted = Dataset.range(20).shard(tf.data.experimental.SHARD_HINT, 0)
    assert sorted(cluster.read(hinted, Policy.HINT)) == list(range(20))
    assert sorted(set(cluster.read(Dataset.range(20).shard(1, 0), Policy.HINT))) == list(range(20))


@pytest.mark.parametrize("policy", [Policy.DATA, Policy.FILE_OR_DATA, Policy.OFF])
def test_empty_dataset(cluster, policy):
    assert shards(cluster, 2).read(Dataset.range(0), policy) == []


def test_batches_zip_and_concatenate(cluster, tmp_path):
    shards(cluster, 2)
    for i in range(4):
        (tmp_path / f"{i}").write_text("".join(f"{i * 10 + j}\n" for j in range(10)))
    files = [str(path) for path in sorted(tmp_path.iterdir())]
    lines = tf.data.TextLineDataset(files).map(int)
    every = [i * 10 + j for i in range(4) for j in range(10)]
    rows = cluster.read(lines.batch(3), Policy.FILE_OR_DATA)
    assert sorted(x for row in rows for x in row) == every
    zipped = [(int(a), int(b)) for a, b in cluster.distribute(Dataset.zip((lines, lines)), Policy.FILE)]
    assert sorted(zipped) == [(x, x) for x in every]
    assert sorted(cluster.read(lines.concatenate(lines), Policy.FILE)) == sorted(2 * every)


def test_fewer_files_than_workers(cluster, tmp_path):
    shards(cluster, 3)
    (tmp_path / "only").write_text("1\n2\n3\n4\n")
    lines = tf.data.TextLineDataset([str(tmp_path / "only")]).map(int)
    for policy in (Policy.FILE, Policy.FILE_OR_DATA):
        with pytest.raises(InvalidArgumentError, match="not enough for the required 3"):
            cluster.read(lines, policy)
    assert sorted(cluster.read(lines, Policy.DATA)) == [1, 2, 3, 4]
