"""Static sharding gives each worker what TensorFlow's auto-sharding gives it, and refuses what that refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfsvc
from tests.unit.data.helpers import plain
from tfsvc.data.operator import Context
from tfsvc.data.sharding import Share, share_of
from tfsvc.protocol.messages import ShardingPolicy
from tfsvc.storage.records import encode_record

pytestmark = pytest.mark.interop

HINT = tfsvc.data.experimental.SHARD_HINT
Build = Callable[[Any, list[str]], Any]

DATASETS: dict[str, Build] = {
    "records": lambda tf, files: tf.data.TFRecordDataset(files),
    "parallel reads": lambda tf, files: tf.data.TFRecordDataset(files, num_parallel_reads=2),
    "few files": lambda tf, files: tf.data.TFRecordDataset(files[:3]),
    "no file": lambda tf, files: tf.data.TFRecordDataset([]),
    "map": lambda tf, files: tf.data.TFRecordDataset(files).map(lambda x: x),
    "filter": lambda tf, files: tf.data.TFRecordDataset(files).filter(lambda x: True),
    "scan": lambda tf, files: tf.data.TFRecordDataset(files).scan(0, lambda s, x: (s, x)),
    "take_while": lambda tf, files: tf.data.TFRecordDataset(files).take_while(lambda x: True),
    "unique": lambda tf, files: tf.data.TFRecordDataset(files).unique(),
    "ignore_errors": lambda tf, files: tf.data.TFRecordDataset(files).ignore_errors(),
    "enumerate": lambda tf, files: tf.data.TFRecordDataset(files).enumerate(),
    "padded_batch": lambda tf, files: tf.data.TFRecordDataset(files).padded_batch(3),
    "batch": lambda tf, files: tf.data.TFRecordDataset(files).batch(3),
    "rebatch": lambda tf, files: tf.data.TFRecordDataset(files).batch(3).rebatch(2),
    "unbatch": lambda tf, files: tf.data.TFRecordDataset(files).batch(3).unbatch(),
    "cache": lambda tf, files: tf.data.TFRecordDataset(files).cache(),
    "shuffle": lambda tf, files: tf.data.TFRecordDataset(files).shuffle(1),
    "repeat": lambda tf, files: tf.data.TFRecordDataset(files).repeat(2),
    "take": lambda tf, files: tf.data.TFRecordDataset(files).take(2),
    "skip": lambda tf, files: tf.data.TFRecordDataset(files).skip(2),
    "shard": lambda tf, files: tf.data.TFRecordDataset(files).shard(2, 0),
    "prefetch": lambda tf, files: tf.data.TFRecordDataset(files).prefetch(2),
    "concatenate": lambda tf, files: tf.data.TFRecordDataset(files).concatenate(tf.data.TFRecordDataset(files[:5])),
    "zip": lambda tf, files: tf.data.Dataset.zip(tf.data.TFRecordDataset(files), tf.data.TFRecordDataset(files)),
    "zip with range": lambda tf, files: tf.data.Dataset.zip(tf.data.TFRecordDataset(files), tf.data.Dataset.range(99)),
    "sample": lambda tf, files: tf.data.Dataset.sample_from_datasets([tf.data.TFRecordDataset(files)] * 2).take(0),
    "flat_map": lambda tf, files: tf.data.Dataset.from_tensor_slices(files).flat_map(tf.data.TFRecordDataset),
    "interleave": lambda tf, files: (
        tf.data.Dataset.from_tensor_slices(files)
        .map(lambda name: name)
        .interleave(lambda name: tf.data.TFRecordDataset(name).map(lambda x: x), cycle_length=2)
    ),
    "few names": lambda tf, files: tf.data.Dataset.range(2).flat_map(lambda i: tf.data.TFRecordDataset(files)),
    "names alone": lambda tf, files: tf.data.Dataset.from_tensor_slices(files),
    "range": lambda tf, files: tf.data.Dataset.range(20),
    "few numbers": lambda tf, files: tf.data.Dataset.range(3),
    "tensors": lambda tf, files: tf.data.Dataset.from_tensors(1),
    "random": lambda tf, files: tf.data.Dataset.random(seed=1).take(0),
    "counter": lambda tf, files: tf.data.Dataset.counter().take(7),
    "batch and prefetch": lambda tf, files: tf.data.Dataset.range(20).batch(3).prefetch(1),
    "hint": lambda tf, files: tf.data.Dataset.range(20).shard(HINT, 0).map(lambda x: x + 1),
    "far hint": lambda tf, files: tf.data.Dataset.range(20).shard(HINT, 9),
    "hint on few": lambda tf, files: tf.data.Dataset.range(3).shard(HINT, 0),
    "no hint": lambda tf, files: tf.data.Dataset.range(4).shard(1, 0),
    "hint in a function": lambda tf, files: tf.data.Dataset.range(2).flat_map(
        lambda x: tf.data.Dataset.range(9).shard(HINT, 0)
    ),
}

BETTER = {
    ("rebatch", "DATA"): "TensorFlow refuses a last rebatch",
    ("zip with range", "FILE_OR_DATA"): "TensorFlow leaves behind the half of a division by file, and loses elements",
    ("hint in a function", "DATA"): "an element that fails is told by the worker whose it is",
    ("hint in a function", "FILE_OR_DATA"): "an element that fails is told by the worker whose it is",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder: Path = tmp_path_factory.mktemp("records")
    for i in range(10):
        (folder / str(i)).write_bytes(b"".join(encode_record(f"{i}.{j}".encode()) for j in range(4)))
    return [str(folder / str(i)) for i in range(10)]


def ours(dataset: Any, policy: ShardingPolicy, workers: int, index: int) -> Any:
    iterator = share_of(dataset.operator, policy, Share(workers, index)).iterator(Context(seed=1))
    found: list[Any] = []
    while True:
        try:
            found.append(plain(iterator.next()))
        except StopIteration:
            return found


def theirs(tf: Any, dataset: Any, policy: ShardingPolicy, workers: int, index: int) -> Any:
    from tensorflow.python.data.experimental.ops.distribute import _AutoShardDataset

    names = {"FILE_OR_DATA": "AUTO"}
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = getattr(
        tf.data.experimental.AutoShardPolicy, names.get(policy.name, policy.name)
    )
    shard = _AutoShardDataset(dataset.with_options(options), workers, index)
    return [plain(element) for element in shard.as_numpy_iterator()]


def outcome(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("policy", [policy for policy in ShardingPolicy if policy.static], ids=lambda p: p.name)
@pytest.mark.parametrize("name", DATASETS)
def test_each_worker_gets_what_tensorflow_gives_it(files: list[str], name: str, policy: ShardingPolicy) -> None:
    tf = pytest.importorskip("tensorflow")
    if (name, policy.name) in BETTER:
        pytest.skip(BETTER[name, policy.name])
    build = DATASETS[name]
    for workers, index in ((5, 1), (5, 4), (1, 0)):
        want = outcome(lambda w=workers, i=index: theirs(tf, build(tf, files), policy, w, i))
        got = outcome(lambda w=workers, i=index: ours(build(tfsvc, files), policy, w, i))
        assert got == want, (workers, index)
