"""Autoscaling on gRPC: workers and readers say how fast they are, and processes come and go."""

from __future__ import annotations

import time
from functools import partial

import pytest

import tfsvc as tf
from tests import soon
from tfsvc.data.experimental import service
from tfsvc.errors import UnavailableError
from tfsvc.service.autoscaling import Policy

SLOW_S = 0.002


def slowly(x):
    time.sleep(SLOW_S)
    return x


until = partial(soon.until, seconds=60.0, every=0.05)


def test_a_reader_that_is_faster_than_its_worker_asks_for_more():
    config = service.DispatcherConfig(own_process=False)
    with service.DispatchServer(config) as dispatcher:
        assert service.recommended_workers(dispatcher.target) == service.Scaling(0, None, {}, {})
        with service.WorkerServer(service.WorkerConfig(dispatcher.target, heartbeat_interval_ms=100)):
            dataset = tf.data.Dataset.range(100_000).map(slowly)
            wish = service.distribute(
                "parallel_epochs", dispatcher.target, job_name="hungry", task_refresh_interval_hint_ms=50
            )
            iterator = iter(dataset.apply(wish))
            for _ in range(100):
                next(iterator)
                time.sleep(SLOW_S / 4)
            scaling = service.recommended_workers(dispatcher.target)
            assert dispatcher.recommended_workers() is not None
    assert scaling.workers == 1
    assert 2 <= scaling.recommended <= 4
    assert scaling.processing_time_ns["hungry"] > SLOW_S * 1e9
    assert scaling.target_processing_time_ns["hungry"] < scaling.processing_time_ns["hungry"]


@pytest.mark.slow
def test_processes_come_with_readers_and_go_without_a_loss():
    with service.DispatchServer() as dispatcher:
        processes = service.LocalProcesses(dispatcher.target, drain=60)
        try:
            scaler = service.Autoscaler(dispatcher.target, processes, least=1, most=3, interval=0.2, calm=2)
            with scaler:
                until(lambda: dispatcher.num_workers() == 1)
                dataset = tf.data.Dataset.range(3000).map(slowly)
                wish = service.distribute("distributed_epoch", dispatcher.target, task_refresh_interval_hint_ms=50)
                got, most = [], 0
                for element in dataset.apply(wish):
                    got.append(int(element))
                    most = max(most, processes.workers)
                until(lambda: processes.workers == 1)
            assert most > 1
            assert sorted(got) == list(range(3000))
            until(lambda: dispatcher.num_workers() == 1)
        finally:
            processes.close()
        until(lambda: dispatcher.num_workers() == 0)


def test_more_at_once_and_fewer_after_a_while():
    policy = Policy(1, 8, calm=10)
    assert policy.decide(None, 0, 0) == 1
    assert policy.decide(5, 1, 1) == 5
    assert policy.decide(20, 5, 2) == 8
    assert policy.decide(2, 8, 3) == 8
    assert policy.decide(3, 8, 11) == 8
    assert policy.decide(2, 8, 12.5) == 3
    assert policy.decide(None, 3, 21.5) == 2
    assert policy.decide(None, 2, 40) == 1


def test_a_policy_that_cannot_be_kept_is_refused():
    with pytest.raises(ValueError, match="got 3 and 2"):
        Policy(3, 2, 0)


class Counted:
    """An actuator that only counts."""

    workers = 2

    def scale(self, workers: int) -> None:
        self.workers = workers


def test_a_dispatcher_that_does_not_answer_changes_nothing(caplog):
    def nobody(_):
        raise UnavailableError(message="nobody is there")

    actuator = Counted()
    scaler = service.Autoscaler("localhost:1", actuator, least=5, most=8, ask=nobody)
    scaler.look()
    scaler.stop()
    assert actuator.workers == 2
    assert "nobody is there" in caplog.text
    service.Autoscaler("localhost:1", actuator, 1, 8, ask=lambda _: service.Scaling(2, 7, {}, {})).look()
    assert actuator.workers == 7
