"""The service as actors of a real Ray on this machine: placed, killed, scaled, and nothing lost."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from typing import Any

import pytest

import tfsvc as tf
from tests import soon
from tfsvc.launch.actors import WorkerActor

ray = pytest.importorskip("ray")
launch: Any = pytest.importorskip("tfsvc.launch.ray")
service = tf.data.experimental.service

pytestmark = [pytest.mark.usefixtures("cluster"), pytest.mark.timeout(300)]

LIGHT = {"num_cpus": 0.1}


def slowly(x):
    time.sleep(0.002)
    return x


def own_process(x):
    return os.getpid()


until = partial(soon.until, seconds=90.0, every=0.1)


def reading(target, count, function=slowly):
    wish = service.distribute("distributed_epoch", target, task_refresh_interval_hint_ms=50)
    return tf.data.Dataset.range(count).map(function).apply(wish)


def processes_of_workers(target):
    """Found out by the workers themselves."""
    return {int(pid) for pid in reading(target, 200, own_process)} - {os.getpid()}


def live(target):
    return service.describe(target).census.workers


def test_a_killed_worker_is_replaced_and_nothing_is_lost():
    with launch.RayService(workers=3, worker_options=LIGHT) as made:
        victim = max(processes_of_workers(made.target))
        got = []
        for element in reading(made.target, 1500):
            got.append(int(element))
            if len(got) == 400:
                os.kill(victim, signal.SIGKILL)
        assert sorted(got) == list(range(1500))
        until(lambda: len(processes_of_workers(made.target)) == 3)
        assert victim not in processes_of_workers(made.target)
        assert made.workers == 3


def test_a_dispatcher_that_is_killed_goes_on_with_its_journal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = service.DispatcherConfig(work_dir="journal", fault_tolerant_mode=True)
    with launch.RayService(2, config, worker_options=LIGHT, dispatcher_options=LIGHT) as made:
        assert made.target == f"grpc://file:{tmp_path}/journal/address"
        before = (tmp_path / "journal" / "address").read_text()
        got = []
        for element in reading(made.target, 1500):
            got.append(int(element))
            if len(got) == 400:
                ray.kill(made._dispatcher.handle, no_restart=False)
        assert sorted(got) == list(range(1500))
        assert (tmp_path / "journal" / "address").read_text() != before


def test_workers_that_are_too_many_drain():
    with launch.RayService(workers=1, worker_options=LIGHT, drain=60) as made:
        got = []
        for element in reading(made.target, 2000):
            got.append(int(element))
            if len(got) == 300:
                made.scale(4)
                made.wait()
                until(lambda: live(made.target) == 4)
            if len(got) == 1000:
                made.scale(1)
        assert sorted(got) == list(range(2000))
        until(lambda: made.workers == 1 and all(actor.ended() for actor in made._workers._ending))


def test_a_worker_that_is_killed_while_it_drains_stays_away(tmp_path):
    with launch.RayService(workers=2, worker_options=LIGHT, drain=60) as made:
        leaving = max(processes_of_workers(made.target))
        got = []
        for element in reading(made.target, 1500):
            got.append(int(element))
            if len(got) == 300:
                made.scale(1)
                os.kill(leaving, signal.SIGKILL)
        assert sorted(got) == list(range(1500))
        until(lambda: made.workers == 1 and all(actor.ended() for actor in made._workers._ending))
        until(lambda: len(processes_of_workers(made.target)) == 1)


def test_an_autoscaler_has_as_many_as_readers_could_use():
    with launch.RayService(workers=1, worker_options=LIGHT, drain=60) as made:
        most = 0
        with service.Autoscaler(made.target, made, least=1, most=3, interval=0.3, calm=3):
            got = []
            for element in reading(made.target, 4000):
                got.append(int(element))
                most = max(most, made.workers)
            until(lambda: made.workers == 1)
        assert most > 1
        assert sorted(got) == list(range(4000))


def test_a_worker_that_ended_in_good_order_does_not_come_back():
    free = ray.available_resources()["CPU"]
    with launch.RayService(workers=1, worker_options=LIGHT, dispatcher_options=LIGHT) as made:
        service.stop_service(made.target)
        until(lambda: made.workers == 0)
        until(lambda: ray.available_resources()["CPU"] > free - 0.05)


def test_what_ray_has_no_place_for_is_told():
    with launch.RayService(workers=0, dispatcher_options=LIGHT) as made:
        workers = launch.RayWorkers(made.target, options={"num_cpus": 99})
        workers.scale(1)
        with pytest.raises(tf.errors.DeadlineExceededError, match=r"0 of 1 actors in 0.5 s.*'num_cpus': 99.*Ask for"):
            workers.wait(0.5)
        workers.scale(0)
        assert workers.workers == 0
        workers.close()


def test_what_cannot_begin_is_told_at_once():
    with pytest.raises(tf.errors.InvalidArgumentError, match="worker_tags"):
        launch.RayService(workers=1, worker={"worker_tags": "one"})
    config = service.DispatcherConfig(worker_addresses=["elsewhere:1"])
    with pytest.raises(ray.exceptions.RayError, match="elsewhere"):
        launch.RayService(workers=1, dispatcher=config, worker_options=LIGHT)


def test_a_dispatcher_that_nobody_would_find_again_is_refused():
    config = service.DispatcherConfig(work_dir="s3://bucket/d", fault_tolerant_mode=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="address_file"):
        launch.RayService(dispatcher=config)


def test_machines_that_do_not_reach_each_other_are_refused(monkeypatch):
    monkeypatch.setattr(ray, "nodes", lambda: [{"Alive": True}, {"Alive": True}, {"Alive": False}])
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 machines"):
        launch.RayService()


def test_an_actor_is_known_by_its_machine():
    config = service.WorkerConfig("localhost:1", host="0.0.0.0", insecure=True)
    actor = WorkerActor(config, lambda: "10.0.0.7")
    assert actor._worker._config.worker_address == "10.0.0.7:%port%"
    actor.drain(0.0)
    actor.join()
