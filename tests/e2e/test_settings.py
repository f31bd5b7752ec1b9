"""Every field of the two configurations does what it says: collection, timeouts, ports, quiet ends."""

from __future__ import annotations

import time
from functools import partial

import pytest

import tfsvc as tf
from tests import soon
from tfsvc.data.experimental import service
from tfsvc.errors import NotFoundError, UnavailableError

RANGE = tf.data.Dataset.range(10_000)


def read(dispatcher, dataset=RANGE, mode="parallel_epochs", **more):
    more.setdefault("task_refresh_interval_hint_ms", 50)
    return iter(dataset.apply(service.distribute(mode, dispatcher.target, **more)))


def worker(dispatcher, **more):
    more.setdefault("heartbeat_interval_ms", 50)
    return service.WorkerServer(service.WorkerConfig(dispatcher.target, **more))


until = partial(soon.until, seconds=30.0, every=0.02)


def dispatcher(**more):
    return service.DispatchServer(service.DispatcherConfig(**more))


@pytest.mark.parametrize("mode", ["parallel_epochs", "distributed_epoch"])
@pytest.mark.parametrize("dynamic_too", [False, True])
def test_unused_jobs_are_collected(mode, dynamic_too):
    collected = mode == "parallel_epochs" or dynamic_too
    with (
        dispatcher(job_gc_check_interval_ms=50, job_gc_timeout_ms=100, gc_dynamic_sharding_jobs=dynamic_too) as found,
        worker(found) as only,
    ):
        iterator = read(found, mode=mode, job_name="named")
        next(iterator)
        until(lambda: only.num_tasks() == 1)
        time.sleep(0.5)
        assert only.num_tasks() == 1, "a job that is used stays"
        del iterator
        if collected:
            until(lambda: only.num_tasks() == 0)
        else:
            time.sleep(1)
            assert only.num_tasks() == 1


def test_a_negative_timeout_keeps_jobs_and_silent_readers_for_ever():
    with (
        dispatcher(job_gc_check_interval_ms=20, job_gc_timeout_ms=-1, client_timeout_ms=20) as found,
        worker(found) as w,
    ):
        iterator = read(found, job_name="named", task_refresh_interval_hint_ms=10_000)
        next(iterator)
        time.sleep(0.5)
        next(iterator)
        del iterator
        time.sleep(0.3)
        assert w.num_tasks() == 1


def test_a_job_of_that_name_begins_anew_when_it_was_collected():
    with dispatcher(job_gc_check_interval_ms=20, job_gc_timeout_ms=20) as found, worker(found) as only:
        for _ in range(3):
            dataset = tf.data.Dataset.range(1000)
            iterator = read(found, dataset, job_name="again")
            assert int(next(iterator)) == 0
            del iterator
            until(lambda: only.num_tasks() == 0)


def test_a_silent_reader_is_gone():
    with dispatcher(client_timeout_ms=100, job_gc_check_interval_ms=20) as found, worker(found):
        iterator = read(found, job_name="named", task_refresh_interval_hint_ms=2_000)
        next(iterator)
        time.sleep(1)
        with pytest.raises(NotFoundError, match="Unknown iteration client id"):
            list(iterator)


def test_a_silent_worker_is_gone():
    with dispatcher(worker_timeout_ms=300) as found:
        silent = worker(found)
        until(lambda: found.num_workers() == 1)
        silent._server.crash()
        until(lambda: found.num_workers() == 0)


def test_elements_come_from_a_port_of_their_own_if_there_is_one():
    with dispatcher() as found, worker(found, data_transfer_port=0, data_transfer_protocol="grpc") as one:
        assert [int(x) for x in read(found, data_transfer_protocol="grpc")] == list(range(10_000))
        with pytest.raises(UnavailableError):
            service.WorkerServer(service.WorkerConfig(found.target, data_transfer_port=one.port))
    with dispatcher() as found, worker(found, data_transfer_address="127.0.0.1:%dts_port%"):
        assert sorted(int(x) for x in read(found, mode="distributed_epoch", data_transfer_protocol="tfsvc")) == list(
            range(10_000)
        )


def test_a_worker_answers_for_its_quiet_period():
    with dispatcher() as found:
        quiet = worker(found, shutdown_quiet_period_ms=700)
        begin = time.monotonic()
        quiet.stop()
        assert 0.7 <= time.monotonic() - begin < 3


def test_a_reader_waits_no_longer_for_its_dispatcher_than_it_says():
    found = dispatcher()
    with worker(found) as only:
        iterator = read(found, tf.data.Dataset.range(1000), dispatcher_timeout_ms=1500)
        got = [int(next(iterator))]
        until(lambda: only.num_tasks() == 1)
        found.stop()
        got += [int(x) for x in iterator]
        assert got == list(range(1000))
