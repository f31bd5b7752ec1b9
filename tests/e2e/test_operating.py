"""A cluster of real processes under its operator's commands: seen, drained, told to end twice, and out of reach."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import tfsvc as tf
from tests.e2e.clusters import free_ports
from tfsvc.data.experimental import service

pytestmark = pytest.mark.timeout(300)
"""Each command is a process, which takes its time to start on a busy machine."""

TFSVC = [sys.executable, "-m", "tfsvc"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def tfsvc(*arguments, **environment):
    return subprocess.run(
        [*TFSVC, *arguments], capture_output=True, text=True, timeout=100, env={**ENVIRONMENT, **environment}
    )


class Cluster:
    """A dispatcher, and workers that are told to drain for as long as it takes."""

    def __init__(self):
        self.children = []
        (port,) = free_ports(1)
        self.address = f"localhost:{port}"
        self.dispatcher = self.start("dispatcher", "--port", str(port))

    def start(self, *arguments, **environment):
        child = subprocess.Popen(
            [*TFSVC, *arguments], stdout=subprocess.PIPE, text=True, env={**ENVIRONMENT, **environment}
        )
        self.children.append(child)
        assert child.stdout.readline(), "it says that it serves"
        return child

    def worker(self, *arguments):
        port = str(free_ports(1)[0])
        return self.start("worker", self.address, "--port", port, *arguments), f"localhost:{port}"

    def state(self, address):
        workers = service.describe(self.address).workers
        return next((worker.state for worker in workers if worker.address == address), "gone")

    def until(self, address, state):
        give_up = time.monotonic() + 30
        while self.state(address) != state:
            assert time.monotonic() < give_up, f"{address} did not become {state}"
            time.sleep(0.02)

    def read(self, mode, dataset, name=None):
        wish = service.distribute(mode, self.address, job_name=name, task_refresh_interval_hint_ms=50)
        return iter(dataset.apply(wish))


@pytest.fixture
def cluster():
    made = Cluster()
    yield made
    for child in made.children:
        child.kill()
        child.communicate()


def slowly(x):
    time.sleep(0.001)
    return x


def test_a_cluster_is_seen_and_a_worker_drained_without_a_loss(cluster):
    cluster.worker("--tag", "spot")
    first, address = cluster.worker()
    assert tfsvc("status", cluster.address, "--workers", "2", "--timeout", "60s").returncode == 0
    iterator = cluster.read("distributed_epoch", tf.data.Dataset.range(3000).map(slowly), "train")
    got = [int(next(iterator)) for _ in range(100)]
    shown = tfsvc("status", cluster.address)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "spot" in shown.stdout
    (job,) = json.loads(tfsvc("jobs", cluster.address, "--json").stdout)["jobs"]
    assert (job["name"], job["splits_total"], job["iterations"][0]["readers"]) == ("train", 3000, 1)
    rates = tfsvc("top", cluster.address, "--interval", "200ms")
    assert rates.returncode == 0
    assert "elements/s" in rates.stdout
    rest = []
    reading = threading.Thread(target=lambda: rest.extend(int(x) for x in iterator))
    reading.start()
    drained = tfsvc("drain", address, "--dispatcher", cluster.address)
    assert (drained.returncode, first.wait(10)) == (0, 0), drained.stderr
    reading.join(60)
    assert sorted(got + rest) == list(range(3000))
    assert cluster.state(address) in ("gone", "leaving")
    unknown = tfsvc("drain", "nobody:1", "-d", cluster.address)
    assert (unknown.returncode, "There is no worker at 'nobody:1'" in unknown.stderr) == (1, True)


def test_the_first_signal_drains_and_the_second_stops_at_once_while_the_state_is_seen(cluster):
    worker, address = cluster.worker("--drain", "10m")
    iterator = cluster.read("parallel_epochs", tf.data.Dataset.range(10**6).map(slowly))
    next(iterator)
    worker.send_signal(signal.SIGTERM)
    cluster.until(address, "draining")
    assert "draining" in tfsvc("status", cluster.address).stdout
    assert worker.poll() is None
    assert next(iterator) is not None, "it still serves"
    began = time.monotonic()
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(10) == 128 + signal.SIGTERM
    assert time.monotonic() - began < 5
    assert cluster.state(address) in ("gone", "leaving"), "it took its leave"
    del iterator


def test_a_worker_that_cannot_be_drained_in_time_is_told_of_and_goes(cluster):
    worker, address = cluster.worker()
    iterator = cluster.read("parallel_epochs", tf.data.Dataset.range(10**6).map(slowly))
    next(iterator)
    told = tfsvc("drain", address, "-d", cluster.address, "--grace", "1h", "--no-wait")
    assert (told.returncode, told.stdout) == (0, f"{address} is told to drain\n")
    cluster.until(address, "draining")
    now = tfsvc("drain", address, "-d", cluster.address, "--grace", "0")
    assert (now.returncode, worker.wait(10)) == (0, 0), now.stderr
    del iterator


def test_the_whole_service_is_stopped(cluster):
    worker, _ = cluster.worker()
    assert tfsvc("stop", cluster.address, "--grace", "1s").returncode == 0
    assert (worker.wait(10), cluster.dispatcher.wait(10)) == (0, 0)
    for command in ("status", "jobs", "top"):
        done = tfsvc(command, cluster.address, "--timeout", "300ms")
        assert done.returncode == 3, done.stderr
        assert done.stderr.count("\n") == 1
    assert tfsvc("drain", "w:1", "-d", cluster.address, "--timeout", "300ms").returncode == 3


def test_a_doctor_finds_nothing_at_a_cluster_of_this_machine(cluster):
    cluster.worker()
    assert tfsvc("status", cluster.address, "--workers", "1", "--timeout", "60s").returncode == 0
    done = tfsvc("doctor", cluster.address, "--json", http_proxy="", https_proxy="")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert [name for name, check in checks.items() if any(f["level"] == "bad" for f in check["findings"])] == []
    assert all(checks[name]["looked"] for name in ("names", "reach", "releases", "clocks", "cluster"))


def test_a_doctor_finds_a_worker_that_advertises_another_machines_address(cluster):
    (port,) = free_ports(1)
    cluster.worker("--advertise", f"no-such-name.invalid:{port}")
    assert tfsvc("status", cluster.address, "--workers", "1", "--timeout", "60s").returncode == 0
    done = tfsvc("doctor", cluster.address)
    assert (done.returncode, "the name of worker no-such-name.invalid" in done.stdout) == (1, True)
    assert "--worker-address" in done.stdout


def test_servers_take_their_settings_from_a_file_and_the_environment(cluster, tmp_path):
    file = tmp_path / "tfsvc.toml"
    file.write_text('[worker]\nworker_tags = ["from-the-file"]\nheartbeat_interval = "100ms"\n')
    cluster.start("worker", "--config", str(file), TFSVC_DISPATCHER=cluster.address)
    assert tfsvc("status", cluster.address, "--workers", "1", "--timeout", "60s").returncode == 0
    (worker,) = json.loads(tfsvc("status", cluster.address, "--json").stdout)["workers"]
    assert (worker["tags"], worker["interval_ns"]) == (["from-the-file"], 10**8)


def test_names_of_commands_are_completed():
    done = tfsvc(_TFSVC_COMPLETE="bash_complete", COMP_WORDS="tfsvc st", COMP_CWORD="1")
    assert done.stdout.split() == ["plain,status", "plain,stop"]
    assert "_tfsvc_completion" in tfsvc(_TFSVC_COMPLETE="bash_source").stdout


def test_every_command_says_what_it_is_for():
    done = tfsvc("--help")
    assert done.returncode == 0
    assert "cannot be loaded" not in done.stdout
    for command in ("bench", "check-config", "dispatcher", "doctor", "drain", "journal", "snapshot", "status", "top"):
        assert command in done.stdout


@pytest.mark.slow
def test_a_bench_measures_this_machine():
    done = tfsvc("bench", "--seconds", "200ms", "--element-size", "1KiB", "--json")
    found = json.loads(done.stdout)
    assert [measured["way"] for measured in found["measured"]] == ["shared memory", "network"]
    assert all(measured["elements_per_s"] > 0 for measured in found["measured"])
    assert done.stderr == ""


@pytest.mark.slow
def test_snapshots_are_followed_to_their_end(tmp_path):
    journal, path = tmp_path / "journal", tmp_path / "numbers"
    (port,) = free_ports(1)
    cluster = Cluster.__new__(Cluster)
    cluster.children, cluster.address = [], f"localhost:{port}"
    try:
        cluster.start("dispatcher", "--port", str(port), "--work-dir", str(journal))
        cluster.worker()
        tf.data.experimental.distributed_save(tf.data.Dataset.range(100), str(path), cluster.address)
        followed = tfsvc("snapshot", str(path), "-d", cluster.address, "--follow", "--json")
        told = json.loads(followed.stdout)
        assert (followed.returncode, told["state"], told["elements"]) == (0, "done", 100)
        seen = json.loads(tfsvc("snapshot", str(path), "--json").stdout)
        assert (seen["state"], seen["elements"], seen["splits"]) == ("done", 100, None)
        assert "100 elements" in tfsvc("snapshot", str(path)).stdout
        (listed,) = json.loads(tfsvc("snapshot", "-d", cluster.address, "--json").stdout)["snapshots"]
        assert (listed["state"], listed["elements"]) == ("done", 100)
    finally:
        for child in cluster.children:
            child.kill()
            child.communicate()
