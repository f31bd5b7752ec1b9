"""A dispatcher that is known by where its address is written, and comes back at another one."""

from __future__ import annotations

import signal
import time

import pytest

import tfsvc as tf
from tests.e2e.fleet import start
from tfsvc_transports.doctor.gathering import gather

service = tf.data.experimental.service


def slowly(x):
    time.sleep(0.002)
    return x


@pytest.fixture
def processes():
    started = []
    yield started
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_reader_goes_on_when_the_dispatcher_comes_back_elsewhere(tmp_path, processes, monkeypatch):
    file = tmp_path / "address"
    known = f"file:{file}"
    monkeypatch.setenv("TFSVC_DISPATCHER", known)

    def dispatcher():
        journal = str(tmp_path / "journal")
        return start("-m", "tfsvc", "dispatcher", "--port", "0", "--work-dir", journal, "--address-file", str(file))

    # Workers and the reader may come first.
    processes += [start("-m", "tfsvc", "worker"), start("-m", "tfsvc", "worker", known), dispatcher()]
    wish = service.distribute("distributed_epoch", "env:TFSVC_DISPATCHER", task_refresh_interval_hint_ms=50)
    got = []
    places = set()
    for element in tf.data.Dataset.range(2000).map(slowly).apply(wish):
        got.append(int(element))
        if len(got) in (300, 900):
            places.add(file.read_text())
            processes[-1].send_signal(signal.SIGKILL)
            processes[-1].wait()
            processes.append(dispatcher())
    places.add(file.read_text())
    assert sorted(got) == list(range(2000))
    assert len(places) == 3


def test_whoever_waits_for_a_file_is_told_which_one(tmp_path):
    with pytest.raises(tf.errors.OpError, match=r"cannot be read \(No such file or directory\)"):
        service.describe(f"file:{tmp_path}/none", timeout=0.3)


def test_a_doctor_looks_where_a_locator_leads(tmp_path):
    file = tmp_path / "address"
    with service.DispatchServer(service.DispatcherConfig(own_process=False, address_file=str(file))):
        facts = gather(f"file:{file}", (), 2.0)
    assert facts.dispatcher is not None
    assert f"grpc://{facts.dispatcher.address}\n" == file.read_text()
    assert facts.dispatcher.about is not None
    with pytest.raises(tf.errors.UnavailableError, match="`address_file` writes it"):
        gather(f"file:{tmp_path}/none", (), 2.0)
