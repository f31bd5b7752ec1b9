"""Resuming a service's dataset: the public way, on gRPC, through kills and with other numbers of everything."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import tfsvc as tf
from tfsvc.data import tokens
from tfsvc.data.experimental import service
from tfsvc.errors import DeadlineExceededError, FailedPreconditionError, InvalidArgumentError, NotFoundError
from tfsvc.protocol.messages import LanePlace
from tfsvc.protocol.splits import Checkpoint, SplitPosition


class Cluster:
    def __init__(self, workers: int) -> None:
        self.dispatcher = service.DispatchServer()
        self.workers = [self.worker() for _ in range(workers)]

    def worker(self) -> service.WorkerServer:
        return service.WorkerServer(service.WorkerConfig(dispatcher_address=self.dispatcher.target))

    def read(self, dataset: tf.data.Dataset, **more: object) -> tf.data.Dataset:
        more = {"deterministic": True, **more}
        return dataset.apply(service.distribute(service.ShardingPolicy.DYNAMIC, self.dispatcher.target, **more))


def plain() -> tf.data.Dataset:
    return tf.data.Dataset.range(400).map(lambda x: x * 3)


def shuffled() -> tf.data.Dataset:
    return tf.data.Dataset.range(400).shuffle(16).map(lambda x: x * 3)


def values(dataset: object) -> list[int]:
    return [int(element) for element in dataset]  # type: ignore[attr-defined]


def test_the_order_of_plain_maps_is_the_dataset_s_own():
    cluster = Cluster(2)
    assert values(cluster.read(plain())) == list(range(0, 1200, 3))


def test_the_order_does_not_depend_on_the_number_of_workers_and_each_epoch_has_its_own():
    small, large = Cluster(1), Cluster(3)
    one, three = small.read(shuffled(), seed=5), large.read(shuffled(), seed=5)
    epochs = [values(one), values(one)]
    assert [values(three), values(three)] == epochs
    assert epochs[0] != epochs[1]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(0, 1200, 3))
    assert values(small.read(shuffled(), seed=6)) != epochs[0]


def test_a_token_resumes_in_another_cluster_mid_batch_and_mid_shuffle():
    one, two, three = Cluster(1), Cluster(2), Cluster(3)
    expected = [batch.tolist() for batch in one.read(shuffled()).batch(7)]
    iterator = iter(two.read(shuffled()).batch(7))
    got = [next(iterator).tolist() for _ in range(23)]
    token = json.dumps(iterator.state_dict())
    assert len(token) < 8192
    again = iter(three.read(shuffled()).batch(7))
    again.load_state_dict(json.loads(token))
    assert got + [batch.tolist() for batch in again] == expected


def test_a_named_job_is_rewound_however_far_it_had_gone_on():
    cluster = Cluster(2)
    iterator = iter(cluster.read(plain(), job_name="train"))
    got = [int(next(iterator)) for _ in range(50)]
    token = iterator.state_dict()
    went_on = [int(next(iterator)) for _ in range(200)]
    newer = iter(cluster.read(plain(), job_name="train"))
    newer.load_state_dict(token)
    assert values(newer) == list(range(150, 1200, 3))
    assert got + went_on == list(range(0, 750, 3))
    with pytest.raises(NotFoundError, match="newer reader"):
        for _ in iterator:
            pass


def test_a_state_holds_the_epoch():
    cluster = Cluster(2)
    dataset = cluster.read(shuffled())
    first, second = values(dataset), values(dataset)
    third = iter(cluster.read(shuffled()))
    fresh = iter(cluster.read(shuffled()))
    list(third)
    dataset = cluster.read(shuffled())
    list(dataset)
    iterator = iter(dataset)
    got = [int(next(iterator)) for _ in range(10)]
    resumed = cluster.read(shuffled())
    again = iter(resumed)
    again.load_state_dict(iterator.state_dict())
    assert got + values(again) == second
    assert values(fresh) == first
    assert values(resumed) not in (first, second)


def test_several_consumers_share_the_lanes_and_hand_over_to_another_number_of_them():
    cluster = Cluster(2)

    def consumers(name: str, count: int) -> list[tf.data.DatasetIterator]:
        many = {"num_consumers": count} if count > 1 else {}
        return [
            iter(cluster.read(plain(), job_name=name, **({**many, "consumer_index": i} if many else {})))
            for i in range(count)
        ]

    three = consumers("three", 3)
    got = [[int(next(iterator)) for _ in range(20 + i)] for i, iterator in enumerate(three)]
    states = [iterator.state_dict() for iterator in three]
    two = consumers("two", 2)
    for iterator in two:
        iterator.load_state_dict(states)
    rest = [values(iterator) for iterator in two]
    assert sorted([x for part in got + rest for x in part]) == list(range(0, 1200, 3))
    (alone,) = consumers("one", 1)
    with pytest.raises(InvalidArgumentError, match=r"consumers \[0, 1\]"):
        alone.load_state_dict(states[:2])
    with pytest.raises(InvalidArgumentError, match="consumer 0 of 3"):
        alone.load_state_dict(states[0])


def test_a_worker_that_dies_changes_nothing_in_the_sequence():
    cluster = Cluster(3)
    dataset = cluster.read(tf.data.Dataset.range(300).map(slow))
    iterator = iter(dataset)
    got = [int(next(iterator)) for _ in range(60)]
    cluster.workers[1]._server.crash()
    assert got + values(iterator) == list(range(300))


def slow(x: object) -> object:
    time.sleep(0.002)
    return x


def test_only_a_fixed_order_can_be_resumed():
    cluster = Cluster(1)
    loose = iter(cluster.read(plain(), deterministic=False))
    with pytest.raises(FailedPreconditionError, match="deterministic=True"):
        loose.state_dict()


def test_seeking_far_into_a_billion_takes_no_time():
    cluster = Cluster(1)
    dataset = cluster.read(tf.data.Dataset.range(10**9), lanes=4)
    iterator = iter(dataset)
    next(iterator)
    far = {**iterator.state_dict()}
    position = tokens.read(dataset.operator, far)
    places = tuple(
        LanePlace(i, 2 * 10**8, Checkpoint(2 * 10**8, (SplitPosition(0, 2 * 10**8),), b"", 2 * 10**8 // 4096))
        for i in range(4)
    )
    moved = type(position)(position.epoch, position.lanes, position.block, position.seed, 0, 1, places)
    began = time.monotonic()
    again = iter(cluster.read(tf.data.Dataset.range(10**9), lanes=4))
    again.load_state_dict(tokens.make(dataset.operator, moved))
    assert int(next(again)) > 7 * 10**8
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("remainder", "lengths"), [(None, [14, 13]), ("drop", [13, 13]), ("pad", [14, 14]), ("wrap", [14, 14])]
)
def test_all_consumers_get_the_same_number_of_elements(remainder: str | None, lengths: list[int]) -> None:
    cluster = Cluster(2)
    dataset = tf.data.Dataset.range(100, 127)
    both = [
        iter(cluster.read(dataset, job_name="job", consumer_index=i, num_consumers=2, lanes=2, remainder=remainder))
        for i in range(2)
    ]
    with ThreadPoolExecutor(2) as pool:
        got = list(pool.map(values, both))
    assert [len(part) for part in got] == lengths
    assert got[0][:13] == list(range(100, 126, 2))
    if remainder == "pad":
        assert got[1][13:] == [0]
    if remainder == "wrap":
        assert got[1][13:] == [101]


def test_a_consumer_that_never_comes_is_named() -> None:
    cluster = Cluster(1)
    alone = cluster.read(
        plain(), job_name="job", consumer_index=0, num_consumers=2, remainder="drop", consumer_timeout_ms=500
    )
    with pytest.raises(DeadlineExceededError, match="Consumers 1 have not gone beyond element 0"):
        values(alone)
