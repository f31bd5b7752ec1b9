"""Readers that read together on gRPC: in rounds, or from a cache that they share."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import tfsvc as tf
from tfsvc.data.experimental import service
from tfsvc.errors import DeadlineExceededError, InvalidArgumentError


@pytest.fixture
def dispatcher():
    with service.DispatchServer() as made:
        yield made


def worker(dispatcher, **more):
    return service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher.target, **more))


def consumers(dispatcher, dataset, count, **more):
    return [
        iter(
            dataset.apply(
                service.distribute(
                    "parallel_epochs",
                    dispatcher.target,
                    job_name="rounds",
                    consumer_index=i,
                    num_consumers=count,
                    task_refresh_interval_hint_ms=20,
                    **more,
                )
            )
        )
        for i in range(count)
    ]


def take(iterators, steps):
    """The same number of steps of all, at the same time."""
    with ThreadPoolExecutor(len(iterators)) as pool:
        taken = pool.map(lambda iterator: [next(iterator).tolist() for _ in range(steps)], iterators)
        return list(zip(*taken, strict=True))


def test_all_consumers_get_batches_of_the_same_bucket_in_every_step(dispatcher):
    with worker(dispatcher), worker(dispatcher):
        dataset = tf.data.Dataset.range(1000).repeat()
        dataset = dataset.group_by_window(lambda x: x % 3, lambda _, group: group.batch(4), window_size=4 * 2)
        rows = take(consumers(dispatcher, dataset, 2), 20)
    for one, other in rows:
        assert len({x % 3 for x in one + other}) == 1


def test_a_finite_dataset_ends_for_all_consumers_in_the_same_step(dispatcher):
    with worker(dispatcher):
        iterators = consumers(dispatcher, tf.data.Dataset.range(11), 3)
        with ThreadPoolExecutor(3) as pool:
            got = list(pool.map(list, iterators))
    assert [list(map(int, part)) for part in got] == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]


def test_a_worker_that_joins_takes_part_and_one_that_is_lost_is_given_up(dispatcher):
    with worker(dispatcher) as first:
        iterators = consumers(dispatcher, tf.data.Dataset.range(10**6).repeat(), 2)
        rows = take(iterators, 5)
        with worker(dispatcher):
            for _ in range(100):
                rows += take(iterators, 5)
                if rows.count((0, 1)) == 2:
                    break
            assert rows.count((0, 1)) == 2, "the second worker never took part"
            first._server.crash()
            rows += take(iterators, 10)
    assert all(other == one + 1 for one, other in rows)


def test_a_consumer_that_never_comes_is_named(dispatcher):
    with worker(dispatcher):
        together = service.distribute(
            "parallel_epochs",
            dispatcher.target,
            job_name="rounds",
            consumer_index=0,
            num_consumers=2,
            consumer_timeout_ms=500,
        )
        alone = iter(tf.data.Dataset.range(10).apply(together))
        with pytest.raises(DeadlineExceededError, match="Consumers 1 of 2 have not asked for round 0"):
            next(alone)


def test_trainers_share_elements_that_were_made_once(dispatcher):
    with worker(dispatcher):
        dataset = tf.data.Dataset.counter().map(lambda x: x)

        def trainer(name):
            cache = service.CrossTrainerCache(trainer_id=name)
            return iter(
                dataset.apply(
                    service.distribute(
                        "parallel_epochs", dispatcher.target, job_name="shared", cross_trainer_cache=cache
                    )
                )
            )

        one, other = trainer("one"), trainer("other")
        assert [int(next(one)) for _ in range(50)] == list(range(50))
        assert [int(next(other)) for _ in range(50)] == list(range(50))


def test_a_trainer_that_falls_behind_goes_on_at_the_window_and_says_so(dispatcher, caplog):
    """The fast one reads ahead meanwhile, so the slow one may miss some more on its way."""
    with worker(dispatcher, cross_trainer_cache_size_bytes=4096):
        dataset = tf.data.Dataset.counter()

        def trainer(name):
            cache = service.CrossTrainerCache(trainer_id=name)
            shared = service.distribute(
                "parallel_epochs",
                dispatcher.target,
                job_name="shared",
                cross_trainer_cache=cache,
                task_refresh_interval_hint_ms=20,
            )
            return iter(dataset.apply(shared))

        fast = trainer("fast")
        for _ in range(500):
            next(fast)
        slow = trainer("slow")
        got = [int(next(slow)) for _ in range(20)]
        give_up = time.monotonic() + 10
        while "elements had left" not in caplog.text and time.monotonic() < give_up:
            time.sleep(0.02)
    assert got == sorted(set(got))
    assert got[0] > 100
    assert "elements had left the trainers' cache" in caplog.text


def test_nonsense_is_refused(dispatcher):
    with pytest.raises(ValueError, match="non-empty trainer ID"):
        service.CrossTrainerCache(trainer_id="")
    with pytest.raises(ValueError, match="must be set when setting"):
        service.distribute("parallel_epochs", dispatcher.target, consumer_index=0, num_consumers=2)
    with pytest.raises(ValueError, match="both must be given"):
        service.distribute("parallel_epochs", dispatcher.target, job_name="j", consumer_index=2, num_consumers=2)
    with worker(dispatcher, cross_trainer_cache_size_bytes=70):
        cache = service.CrossTrainerCache(trainer_id="one")
        large = tf.data.Dataset.from_tensors([0] * 1000).repeat()
        shared = service.distribute("parallel_epochs", dispatcher.target, job_name="j", cross_trainer_cache=cache)
        with pytest.raises(InvalidArgumentError, match="does not fit"):
            next(iter(large.apply(shared)))
