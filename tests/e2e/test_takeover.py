"""Dispatchers on another machine, and two of them on one journal: the newer one goes on, the older one ends aloud."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time

import pytest

import tfsvc as tf
from tests.unit.transports.buckets import new_bucket, s3_server
from tfsvc.protocol.settings import DispatcherSettings
from tfsvc_transports import journal
from tfsvc_transports.hosted import HostedDispatcher

service = tf.data.experimental.service


@pytest.fixture(scope="module")
def s3():
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture
def bucket(s3):
    return f"s3://{new_bucket(s3)}/work"


def elements_of(address, count):
    dataset = tf.data.Dataset.range(count).map(lambda x: x * 2)
    return iter(dataset.apply(service.distribute("distributed_epoch", address, job_name="job")))


@pytest.mark.timeout(100)
def test_a_killed_dispatcher_goes_on_with_its_bucket(bucket):
    life = HostedDispatcher("localhost", 0, DispatcherSettings(), bucket)
    address = f"localhost:{life.port}"
    with service.WorkerServer(service.WorkerConfig(dispatcher_address=address, heartbeat_interval_ms=100)):
        elements = elements_of(address, 3000)
        got = []
        for cut in (100, 1000, 2000):
            got += [int(next(elements)) for _ in range(cut - len(got))]
            life.kill()
            life = HostedDispatcher("localhost", life.port, DispatcherSettings(), bucket)
        got += map(int, elements)
    life.stop()
    assert sorted(got) == list(range(0, 6000, 2))


@pytest.mark.timeout(60)
def test_a_copied_directory_is_the_journal_of_a_dispatcher_elsewhere(tmp_path):
    life = HostedDispatcher("localhost", 0, DispatcherSettings(), str(tmp_path / "here"))
    address = f"localhost:{life.port}"
    with service.WorkerServer(service.WorkerConfig(dispatcher_address=address, heartbeat_interval_ms=100)):
        elements = elements_of(address, 2000)
        got = [int(next(elements)) for _ in range(500)]
        life.kill()
        shutil.copytree(tmp_path / "here", tmp_path / "there")
        shutil.rmtree(tmp_path / "here")
        life = HostedDispatcher("localhost", life.port, DispatcherSettings(), str(tmp_path / "there"))
        got += map(int, elements)
    life.stop()
    assert sorted(got) == list(range(0, 4000, 2))


@pytest.mark.parametrize("own_process", [False, True])
@pytest.mark.timeout(60)
def test_the_first_of_two_dispatchers_on_a_bucket_ends_and_says_why(bucket, own_process, caplog):
    config = service.DispatcherConfig(work_dir=bucket, fault_tolerant_mode=True, own_process=own_process)
    first = service.DispatchServer(config)
    assert first.num_workers() == 0
    second = service.DispatchServer(config)
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"another dispatcher \(process .*\) has taken over"):
        first.join(10 * journal.CHECK_S)
    if not own_process:
        assert "has taken over the journal in s3://" in caplog.text
    assert second.num_workers() == 0
    first.stop()
    second.stop()


@pytest.mark.timeout(60)
def test_a_dispatcher_that_is_fenced_off_ends_its_process_with_an_error(bucket):
    command = [sys.executable, "-m", "tfsvc", "dispatcher", "--port", "0", "--work-dir", bucket]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert first.stdout.readline().startswith("dispatcher at ")
        second = HostedDispatcher("localhost", 0, DispatcherSettings(), bucket)
        _, complaint = first.communicate(timeout=30)
        assert first.returncode == 1
        assert "Error: another dispatcher" in complaint
        second.stop()


@pytest.mark.timeout(60)
def test_a_dispatcher_whose_directory_is_taken_away_ends_and_says_so(tmp_path):
    config = service.DispatcherConfig(work_dir=str(tmp_path / "work"), fault_tolerant_mode=True)
    server = service.DispatchServer(config)
    shutil.rmtree(tmp_path / "work")
    with pytest.raises(tf.errors.UnavailableError, match="was removed or replaced while it was in use"):
        server.join(10 * journal.CHECK_S)
    server.stop()


@pytest.mark.timeout(60)
def test_a_reader_of_a_lost_state_gets_nothing_of_another(tmp_path):
    """Both dispatchers begin with nothing; the second reader is to the new one what the first was to the old one."""
    life = HostedDispatcher("localhost", 0, DispatcherSettings())
    address = f"localhost:{life.port}"
    with service.WorkerServer(service.WorkerConfig(dispatcher_address=address, heartbeat_interval_ms=100)):
        old = elements_of(address, 10**6)
        next(old)
        life.kill()
        life = HostedDispatcher("localhost", life.port, DispatcherSettings())
        dataset = tf.data.Dataset.range(100, 200)
        new = dataset.apply(service.distribute("distributed_epoch", address, job_name="job"))
        assert sorted(map(int, new)) == list(range(100, 200))
        began = time.monotonic()
        rest = []
        with pytest.raises(tf.errors.NotFoundError, match=r"whose state was lost\. Make a new iterator\."):
            rest.extend(int(element) for element in old)
        assert not any(value % 2 for value in rest)
        assert time.monotonic() - began < 10
    life.stop()
