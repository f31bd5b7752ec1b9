"""TensorFlow's ``dynamic_sharding_test`` and ``local_workers_test``, row by row, where no other test says the same."""

from __future__ import annotations

import collections

import pytest

import tfsvc as tf
from tests.e2e.parity.conftest import Dataset
from tfsvc.errors import UnimplementedError


def once(cluster, dataset, **more):
    return sorted(cluster.read(dataset, "distributed_epoch", **more))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: Dataset.range(200), range(200)),
        (lambda: Dataset.from_tensor_slices(list(range(100))), range(100)),
        (
            lambda: Dataset.range(10).interleave(lambda x: Dataset.range(x * 10, x * 10 + 10), cycle_length=3),
            range(100),
        ),
        (
            lambda: Dataset.range(10).interleave(
                lambda x: Dataset.range(x * 10, x * 10 + 10), cycle_length=4, num_parallel_calls=4
            ),
            range(100),
        ),
        (lambda: Dataset.range(10).flat_map(lambda x: Dataset.range(x * 10, x * 10 + 10)), range(100)),
        (lambda: Dataset.range(100).concatenate(Dataset.range(100, 200)), range(200)),
    ],
    ids=["basic", "tensor_slices", "interleave", "parallel_interleave", "flat_map", "concatenate"],
)
def test_each_element_exactly_once(cluster, make, expected):
    assert once(cluster.up(2), make(), job_name="j") == list(expected)
    assert once(cluster, make()) == list(expected)


def test_group_by_window(cluster):
    made = Dataset.range(32).group_by_window(
        lambda x: x % 2, lambda _, group: Dataset.zip((group, group)).map(lambda a, b: a + b).batch(4), window_size=4
    )
    rows = cluster.up(2).read(made, "distributed_epoch")
    assert sorted(x for row in rows for x in row) == [2 * i for i in range(32)]


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("shuffled", [True, False])
def test_repeat(cluster, before, shuffled):
    made = Dataset.range(20).shuffle(20) if shuffled else Dataset.range(20)
    cluster.up(2)
    if before:
        got = cluster.read(made.repeat(5), "distributed_epoch")
    else:
        got = [int(x) for x in cluster.distribute(made, "distributed_epoch").repeat(5)]
    assert collections.Counter(got) == dict.fromkeys(range(20), 5)


def test_forever_repeat(cluster):
    iterator = iter(cluster.up(2).distribute(Dataset.range(20).repeat(), "distributed_epoch"))
    got = collections.Counter(int(next(iterator)) for _ in range(1000))
    assert set(got) == set(range(20))
    assert max(got.values()) < 20 * min(got.values())


def test_forever_repeat_few_elements(cluster):
    cluster.up(5)
    iterator = iter(cluster.distribute(Dataset.range(1).repeat(), "distributed_epoch"))
    assert [int(next(iterator)) for _ in range(20)] == [0] * 20
    for worker in cluster.workers[:4]:
        worker.stop()
    assert [int(next(iterator)) for _ in range(20)] == [0] * 20


def test_nested_zip(cluster):
    made = Dataset.zip((Dataset.range(50), Dataset.zip((Dataset.range(50), Dataset.range(50)))))
    got = [(int(a), int(b), int(c)) for a, (b, c) in cluster.up().distribute(made, "distributed_epoch")]
    assert got == [(i, i, i) for i in range(50)]


@pytest.mark.parametrize("workers", [1, 3])
def test_imbalanced_zip_and_repeat(cluster, workers):
    made = Dataset.zip((Dataset.range(200), Dataset.range(5).repeat(100)))
    assert len(list(cluster.up(workers).distribute(made, "distributed_epoch"))) == 200
    if workers == 1:
        made = Dataset.zip((Dataset.range(40), Dataset.range(20))).repeat(3)
        got = [(int(a), int(b)) for a, b in cluster.distribute(made, "distributed_epoch")]
        assert got == 3 * [(i, i) for i in range(20)]


def test_zip_of_different_rates_and_repeats(cluster):
    cluster.up()
    rates = Dataset.zip((Dataset.range(100), Dataset.from_tensor_slices(list(range(10))).batch(1)))
    assert len(list(cluster.distribute(rates, "distributed_epoch"))) == 10
    repeats = Dataset.zip((Dataset.range(50).repeat(2), Dataset.range(50)))
    assert len(list(cluster.distribute(repeats, "distributed_epoch"))) == 50


def test_sample_from_datasets(cluster):
    parts = [Dataset.from_tensor_slices([i]).repeat() for i in range(3)]
    made = Dataset.sample_from_datasets(parts, [0.6, 0.3, 0.1], seed=1).take(1000)
    got = collections.Counter(cluster.up(2).read(made, "distributed_epoch"))
    assert got[0] > got[1] > got[2] > 0


@pytest.mark.parametrize("workers", [1, 3])
def test_choose_from_datasets(cluster, workers):
    words = [Dataset.from_tensor_slices([word] * 5) for word in (b"foo", b"bar", b"baz")]
    made = Dataset.choose_from_datasets(words, Dataset.range(3).repeat(5), stop_on_empty_dataset=False)
    got = collections.Counter(cluster.up(workers).distribute(made, "distributed_epoch"))
    assert got == {b"foo": 5, b"bar": 5, b"baz": 5}


def test_enumerate_replicate_on_split(cluster):
    made = Dataset.from_tensor_slices(["a", "b", "c"] * 20).enumerate()
    got = list(cluster.up(2).distribute(made, "distributed_epoch"))
    assert len(got) == 60


def test_snapshot_and_distributed_datasets_cannot_be_split(cluster, tmp_path):
    cluster.up()
    with pytest.raises(UnimplementedError):
        cluster.read(Dataset.range(5).snapshot(str(tmp_path / "snapshot")), "distributed_epoch")
    with pytest.raises(UnimplementedError, match="Cannot create split providers for dataset of type"):
        cluster.read(cluster.distribute(Dataset.range(5)), "distributed_epoch")


def test_flat_map_with_repeat(cluster):
    made = Dataset.from_tensor_slices([1, 2, 3]).flat_map(lambda x: Dataset.from_tensors(x).repeat(50))
    assert collections.Counter(once(cluster.up(2), made)) == {1: 50, 2: 50, 3: 50}


def test_shuffle_files(cluster, tmp_path):
    for i in range(20):
        (tmp_path / f"{i}.txt").write_text("".join(f"{i * 10 + j}\n" for j in range(10)))
    names = Dataset.from_tensor_slices([str(path) for path in sorted(tmp_path.glob("*.txt"))]).shuffle(20)
    made = names.flat_map(tf.data.TextLineDataset).map(int)
    assert once(cluster.up(3), made) == list(range(200))


# --- local workers ---


def local(cluster, dataset, mode="parallel_epochs", **more):
    return cluster.read(dataset, mode, target_workers="LOCAL", **more)


def test_repeated_and_prefetching_and_empty_datasets_of_local_workers(cluster):
    cluster.up(2)
    assert sorted(local(cluster, Dataset.range(10).repeat(3))) == sorted(6 * list(range(10)))
    assert sorted(local(cluster, Dataset.range(10).prefetch(4))) == sorted(2 * list(range(10)))
    assert local(cluster, Dataset.range(0)) == []


def test_multiple_epochs_of_local_workers(cluster):
    dataset = cluster.up(1).distribute(Dataset.range(10), target_workers="LOCAL")
    assert [[int(x) for x in dataset] for _ in range(5)] == [list(range(10))] * 5


@pytest.mark.parametrize("restart", ["worker", "dispatcher"])
def test_multiple_epochs_of_local_workers_through_restarts(cluster, restart):
    dataset = cluster.up(1, keeps=True).distribute(Dataset.range(10), target_workers="LOCAL")
    for _ in range(3):
        assert [int(x) for x in dataset] == list(range(10))
        cluster.restart_worker(0) if restart == "worker" else cluster.restart_dispatcher()


def test_multiple_consumers_of_local_workers(cluster):
    cluster.up(2)
    readers = [iter(cluster.distribute(Dataset.range(100), target_workers="LOCAL", job_name="j")) for _ in range(8)]
    got = [int(x) for reader in readers for x in reader]
    assert sorted(got) == sorted(2 * list(range(100)))


def test_anonymous_jobs_may_have_different_targets(cluster):
    cluster.up(2)
    for target in ("AUTO", "ANY", "LOCAL"):
        assert len(cluster.read(Dataset.range(10), target_workers=target)) == 20


def test_reading_a_local_job_again(cluster):
    """TensorFlow deletes the task with its reader; here the job goes on where it was."""
    cluster.up(1)
    first = iter(cluster.distribute(Dataset.range(100), target_workers="LOCAL", job_name="j"))
    got = [int(next(first)) for _ in range(5)]
    del first
    rest = local(cluster, Dataset.range(100), job_name="j")
    assert not set(got) & set(rest)
    assert rest == sorted(rest)
