"""Real nodes are looked at: metrics, health, a page; a worker is killed, and one can see that nothing was lost."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families

import tfsvc as tf
from tests import soon
from tfsvc.data.experimental import service
from tfsvc.errors import InvalidArgumentError, UnavailableError
from tfsvc_transports.commands.report import report
from tfsvc_transports.telemetry import catalogue


def get(address, path):
    """Status and body."""
    try:
        with urllib.request.urlopen(f"{address}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def values(text):
    """By name and labels."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name, tuple(sorted(sample.labels.items()))] = sample.value
    return found


until = partial(soon.until, seconds=20, every=0.05)


@pytest.fixture
def dispatcher():
    config = service.DispatcherConfig(http_port=0, own_process=False, worker_timeout_ms=5000)
    with service.DispatchServer(config) as made:
        yield made


def worker(dispatcher, **more):
    return service.WorkerServer(service.WorkerConfig(dispatcher.target, heartbeat_interval_ms=50, http_port=0, **more))


def read(dispatcher, count, job="train", function=None):
    dataset = tf.data.Dataset.range(count)
    dataset = dataset if function is None else dataset.map(function)
    wish = service.distribute("distributed_epoch", dispatcher.target, job_name=job, task_refresh_interval_hint_ms=50)
    return dataset.apply(wish)


def test_every_metric_of_the_catalogue_is_there_and_no_other(dispatcher):
    with worker(dispatcher) as made:
        assert sum(1 for _ in read(dispatcher, 1000)) == 1000
        reader = read(dispatcher, 10**9, "open")
        iterator = iter(reader)
        next(iterator)
        for role, text in {
            "dispatcher": get(dispatcher.http_address, "/metrics")[1],
            "worker": get(made.http_address, "/metrics")[1],
            "reader": service.metrics(),
        }.items():
            families = {family.name: family for family in text_string_to_metric_families(text)}
            known = {series.name.removesuffix("_total"): series for series in catalogue.by_role(role)}
            found = {name for name in families if name.startswith("tfsvc_")}
            assert found == known.keys()
            for name, series in known.items():
                assert families[name].type == series.kind.value
                assert families[name].documentation == series.help
                for sample in families[name].samples:
                    assert set(sample.labels) - {"le"} == set(series.labels), sample
            assert "process_cpu_seconds_total" in text
        del iterator


def test_numbers_agree_on_all_sides(dispatcher):
    with worker(dispatcher) as made:
        assert sum(1 for _ in read(dispatcher, 5000)) == 5000
        job = (("job_name", "train"),)
        of_dispatcher = values(get(dispatcher.http_address, "/metrics")[1])
        of_worker = values(get(made.http_address, "/metrics")[1])
        of_reader = values(service.metrics())
        assert of_dispatcher["tfsvc_dispatcher_elements_taken_total", job] == 5000
        assert of_worker["tfsvc_worker_elements_produced_total", ()] == 5000
        assert of_worker["tfsvc_worker_elements_sent_total", ()] == 5000
        assert of_reader["tfsvc_reader_elements_total", job] >= 5000, "of all readers that this process ever had"
        assert of_dispatcher["tfsvc_dispatcher_splits_leased_total", ()] == 5000
        assert of_dispatcher["tfsvc_dispatcher_workers", (("state", "live"),)] == 1
        assert of_worker["tfsvc_worker_registered", ()] == 1
        assert 0 <= of_worker["tfsvc_worker_dispatcher_silence_seconds", ()] < 5
        labels = (("code", "OK"), ("method", "OpenLane"), ("role", "dispatcher"))
        assert of_dispatcher["tfsvc_rpcs_served_total", labels] == 1
        made_by = (("code", "OK"), ("method", "OpenLane"), ("role", "worker"))
        assert of_worker["tfsvc_rpcs_made_total", made_by] == 1


def test_a_reader_that_waits_says_so(dispatcher):
    with worker(dispatcher):
        assert sum(1 for _ in read(dispatcher, 40, "slow", lambda x: (time.sleep(0.02), x)[1])) == 40
    found = values(service.metrics())
    job = (("job_name", "slow"),)
    waited, age = found["tfsvc_reader_wait_seconds_total", job], found["tfsvc_reader_seconds_total", job]
    assert 0.7 < waited <= age
    # A reader is closed by another thread.
    until(lambda: values(service.metrics())["tfsvc_reader_open", job] == 0, seconds=10)


def test_readers_have_a_port_of_their_own():
    with closing(service.start_metrics_server()) as server:
        status, text = get(f"http://localhost:{server.port}", "/metrics")
        assert status == 200
        assert 'tfsvc_info{role="reader"' in text
    with pytest.raises(InvalidArgumentError, match="http_host"):
        service.start_metrics_server(host="0.0.0.0")


def test_the_environment_gives_readers_a_port(dispatcher):
    script = (
        "import tfsvc as tf, urllib.request, os, sys\n"
        "from tfsvc.data.experimental import service\n"
        "wish = service.distribute('distributed_epoch', sys.argv[1])\n"
        "assert len(list(tf.data.Dataset.range(10).apply(wish))) == 10\n"
        "url = f\"http://localhost:{os.environ['TFSVC_METRICS_PORT']}/metrics\"\n"
        "print(urllib.request.urlopen(url).read().decode())\n"
    )
    with closing(service.start_metrics_server()) as taken:
        port = taken.port
    with worker(dispatcher):
        done = subprocess.run(
            [sys.executable, "-c", script, dispatcher.target],
            env={**os.environ, "TFSVC_METRICS_PORT": str(port)},
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 0, done.stderr
    assert values(done.stdout)["tfsvc_reader_elements_total", (("job_name", "anonymous"),)] == 10


def test_health_and_readiness(dispatcher):
    assert get(dispatcher.http_address, "/healthz") == get(dispatcher.http_address, "/readyz") == (200, "ok\n")
    made = worker(dispatcher)
    address = made.http_address
    until(lambda: get(address, "/readyz") == (200, "ok\n"))
    assert get(address, "/healthz") == (200, "ok\n")
    made.stop()
    with pytest.raises(OSError):
        urllib.request.urlopen(f"{address}/healthz", timeout=5)
    lost = service.WorkerServer(service.WorkerConfig("localhost:1", http_port=0))
    try:
        assert get(lost.http_address, "/healthz")[0] == 200
        assert get(lost.http_address, "/readyz")[0] == 503, "its dispatcher does not know it"
    finally:
        lost.stop()


def test_a_port_for_http_is_wanted_and_checked(dispatcher):
    port = int(dispatcher.http_address.rpartition(":")[2])
    with pytest.raises(UnavailableError, match="another http_port"):
        service.DispatchServer(service.DispatcherConfig(http_port=port, own_process=False))
    with pytest.raises(UnavailableError, match="another http_port"):
        service.WorkerServer(service.WorkerConfig(dispatcher.target, http_port=port))
    with pytest.raises(InvalidArgumentError, match="http_host="):
        service.DispatcherConfig(http_port=0, http_host="0.0.0.0")
    with pytest.raises(InvalidArgumentError, match="port must be"):
        service.WorkerConfig(dispatcher.target, http_port=70000)
    with service.DispatchServer() as silent:
        assert silent.http_address is None


def test_a_dispatcher_in_a_process_of_its_own_answers_too():
    with service.DispatchServer(service.DispatcherConfig(http_port=0, own_process=True)) as hosted:
        assert get(hosted.http_address, "/readyz") == (200, "ok\n")
        assert json.loads(get(hosted.http_address, "/api/description")[1])["census"]["workers"] == 0


def test_further_names_of_the_machine_are_in_the_environment(monkeypatch):
    def asked(address):
        request = urllib.request.Request(f"{address}/healthz", headers={"Host": "dispatcher.example"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status

    config = service.DispatcherConfig(http_port=0, own_process=False)
    with service.DispatchServer(config) as made, pytest.raises(urllib.error.HTTPError, match="421"):
        asked(made.http_address)
    monkeypatch.setenv("TFSVC_HTTP_NAMES", "a.example, dispatcher.example")
    with service.DispatchServer(config) as made:
        assert asked(made.http_address) == 200


def test_the_journal_is_measured(tmp_path):
    config = service.DispatcherConfig(http_port=0, own_process=False, work_dir=str(tmp_path), fault_tolerant_mode=True)
    with service.DispatchServer(config) as made, worker(made):
        found = values(get(made.http_address, "/metrics")[1])
        assert found["tfsvc_dispatcher_journal_bytes", ()] > 0
        assert found["tfsvc_dispatcher_journal_updates_total", ()] >= 1
        assert found["tfsvc_dispatcher_journal_sync_seconds_count", ()] >= 1
        assert found["tfsvc_dispatcher_journal_sync_seconds_sum", ()] > 0


def test_a_killed_worker_is_seen_to_cost_nothing(dispatcher, tmp_path):
    """What somebody sees who kills a worker: where its work went, and that nothing is missing."""
    command = [sys.executable, "-m", "tfsvc", "worker", dispatcher.target.partition("//")[2]]
    victims = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    try:
        until(lambda: dispatcher.num_workers() == 2, seconds=60)
        taken = 0
        for taken, _ in enumerate(read(dispatcher, 3000, function=lambda x: (time.sleep(0.0005), x)[1]), 1):
            if taken == 500:
                victims[0].send_signal(signal.SIGKILL)
        assert taken == 3000
        story = until(
            lambda: (
                {h.kind: h.text for h in service.chronicle(dispatcher.target).happenings}
                if "end" in {h.kind for h in service.chronicle(dispatcher.target).happenings}
                else None
            )
        )
        assert re.match(r"\d lanes? of job train goe?s? from worker .* to worker ", story["moved"])
        assert story["end"].startswith("pass 0 over job train was read to its end: 3,000 elements taken, nothing lost")
        assert "loss" not in story
        page = tmp_path / "run.html"
        done = CliRunner().invoke(report, [dispatcher.target, "-o", str(page), "--note", "killed <b>one</b>"])
        assert done.exit_code == 0, done.output
        assert story["end"] in page.read_text()
        assert "<b>one</b>" not in page.read_text()
    finally:
        for victim in victims:
            victim.kill()
            victim.wait()


def test_a_report_of_nobody_says_whom_it_did_not_reach(tmp_path):
    done = CliRunner().invoke(report, ["localhost:1", "-o", str(tmp_path / "x.html"), "--timeout", "300ms"])
    assert done.exit_code == 3
    assert "localhost:1" in done.output
    assert not Path(tmp_path, "x.html").exists()
