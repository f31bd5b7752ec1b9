"""``tfsvc.jax`` on eight devices that the host plays, and in two real processes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

# Before JAX is imported for the first time.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"

import tfsvc as tf
from tests.e2e.conftest import Service
from tests.e2e.fleet import start
from tfsvc.errors import FailedPreconditionError, InvalidArgumentError

jax = pytest.importorskip("jax")

from jax.sharding import NamedSharding, PartitionSpec  # noqa: E402

from tfsvc.jax import DeviceDataset, consumer, to_devices  # noqa: E402
from tfsvc.trainers import Consumer  # noqa: E402

pytestmark = pytest.mark.trainers

COUNT, BATCH = 160, 16
service = tf.data.experimental.service


def sharding(*axes: str | None) -> Any:
    return NamedSharding(jax.make_mesh((jax.device_count(),), ("batch",)), PartitionSpec(*axes))


def batches(target: str, **arguments: Any) -> Any:
    dataset = tf.data.Dataset.range(COUNT).map(lambda x: (x, np.full(3, x, np.float32)))
    dataset = dataset.apply(service.distribute("distributed_epoch", target, deterministic=True, **arguments))
    return dataset.batch(BATCH, drop_remainder=True)


@pytest.mark.parametrize("prefetch", [0, 1, 3, 100])
def test_batches_lie_on_all_devices(two_workers: Service, prefetch: int) -> None:
    dataset = DeviceDataset(batches(two_workers.target), sharding("batch"), prefetch=prefetch)
    for _ in range(2):
        got = list(dataset)
        assert [len(x.addressable_shards) for x, _ in got] == [8] * (COUNT // BATCH)
        assert got[0][0].addressable_shards[1].data.tolist() == [2, 3]
        assert [int(x) for numbers, _ in got for x in numbers] == list(range(COUNT))
        assert np.array_equal(got[-1][1], np.repeat(np.arange(COUNT - BATCH, COUNT), 3).reshape(BATCH, 3))


@pytest.mark.parametrize("steps", [0, 1, 4, 10])
def test_the_state_is_of_what_was_given_not_of_what_was_fetched(two_workers: Service, steps: int) -> None:
    iterator = iter(DeviceDataset(batches(two_workers.target), sharding("batch")))
    before = [next(iterator)[0].tolist() for _ in range(steps)]
    state = json.loads(json.dumps(iterator.state_dict()))
    again = iter(DeviceDataset(batches(two_workers.target), sharding("batch")))
    again.load_state_dict(state)
    assert again.state_dict() == state
    rest = [x.tolist() for x, _ in again]
    assert [x for batch in before + rest for x in batch] == list(range(COUNT))


def test_without_a_fixed_order_there_is_no_state(two_workers: Service) -> None:
    iterator = iter(DeviceDataset(two_workers.read(tf.data.Dataset.range(8))))
    assert sorted(int(x) for x in iterator) == list(range(8))
    with pytest.raises(FailedPreconditionError, match="deterministic=True"):
        iterator.state_dict()


def test_shardings_of_components_and_none() -> None:
    element = {"x": np.arange(16, dtype=np.float32).reshape(8, 2), "y": np.arange(3)}
    made = to_devices(element, {"x": sharding("batch", None), "y": sharding()})
    assert made["x"].addressable_shards[3].data.tolist() == [[6, 7]]
    assert made["y"].sharding.is_fully_replicated
    assert to_devices(np.int32(5)).item() == 5
    assert to_devices(np.ones(2, tf.bfloat16.numpy)).dtype == jax.numpy.bfloat16


def test_what_cannot_be_is_refused_by_name() -> None:
    with pytest.raises(InvalidArgumentError, match=r"element\['a'\]\[1\] is text, which JAX has not"):
        to_devices({"a": (np.int32(1), b"text")})
    with pytest.raises(InvalidArgumentError, match=r"element of shape \(7,\).*drop_remainder=True"):
        to_devices(np.arange(7, dtype=np.int32), sharding("batch"))
    with pytest.raises(InvalidArgumentError, match=r"2 components \(element\[0\], element\[1\]\).*1 shardings"):
        to_devices((1, 2), (sharding(),))
    with pytest.raises(InvalidArgumentError, match="`prefetch` must be 0 or more"):
        DeviceDataset(tf.data.Dataset.range(3), prefetch=-1)


def test_an_error_ahead_is_told_in_its_turn() -> None:
    def fail(x: Any) -> Any:
        if x == 2:
            raise ValueError("no two")
        return x

    iterator = iter(DeviceDataset(tf.data.Dataset.range(4).map(fail), prefetch=3))
    assert [int(next(iterator)) for _ in range(2)] == [0, 1]
    with pytest.raises(ValueError, match="no two"):
        next(iterator)
    assert [int(x) for x in iterator] == [3]


def test_one_process_is_the_only_consumer() -> None:
    assert consumer() == Consumer(0, 1)


@pytest.mark.timeout(300)
def test_two_processes_make_global_batches(two_workers: Service) -> None:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        coordinator = f"localhost:{found.getsockname()[1]}"
    started = [
        start("-m", "tests.trainers.test_jax", two_workers.target, coordinator, str(index), output=subprocess.PIPE)
        for index in range(2)
    ]
    said = [json.loads(process.communicate(timeout=240)[0].decode().splitlines()[-1]) for process in started]
    assert said[0]["sums"] == said[1]["sums"], "each step adds up over both processes"
    taken = [set(one["taken"]) for one in said]
    assert not taken[0] & taken[1]
    assert sum(said[0]["sums"]) == sum(taken[0] | taken[1])
    assert len(taken[0]) == len(taken[1]) > COUNT // 2 - BATCH


def train(target: str, coordinator: str, index: int) -> None:
    """One of two processes, each with eight devices."""
    jax.distributed.initialize(coordinator, num_processes=2, process_id=index)
    me = consumer()
    assert me == Consumer(index, 2)
    dataset = batches(target, job_name="jax", consumer_index=me.index, num_consumers=me.count, remainder="drop")
    add = jax.jit(lambda x: x.sum(), out_shardings=sharding())
    sums, taken = [], []
    for numbers, _ in DeviceDataset(dataset, sharding("batch")):
        assert numbers.shape == (2 * BATCH,)
        taken += [int(x) for shard in numbers.addressable_shards for x in shard.data]
        sums.append(int(add(numbers)))
    print(json.dumps({"sums": sums, "taken": taken}))


if __name__ == "__main__":
    train(sys.argv[1], sys.argv[2], int(sys.argv[3]))
