"""Configurations: what they mean for the machines, and what they refuse."""

from __future__ import annotations

import socket

import pytest

import tfsvc as tf
from tfsvc.protocol.ids import SECOND

service = tf.data.experimental.service


def test_the_defaults_are_tensorflows_but_for_the_heartbeat():
    settings = service.DispatcherConfig().settings()
    assert (settings.client_timeout_ns, settings.worker_timeout_ns) == (300 * SECOND, 600 * SECOND)
    assert (settings.gc_interval_ns, settings.gc_timeout_ns) == (600 * SECOND, 300 * SECOND)
    worker = service.WorkerConfig("grpc://localhost:5050").settings()
    assert (worker.dispatcher, worker.heartbeat_ns) == ("localhost:5050", SECOND)
    assert worker.dispatcher_timeout_ns == 3600 * SECOND


def test_no_time_is_the_least_time_and_a_negative_one_is_never():
    settings = service.DispatcherConfig(job_gc_check_interval_ms=0, job_gc_timeout_ms=-1).settings()
    assert (settings.gc_interval_ns, settings.gc_timeout_ns) == (1_000_000, -1)


def test_a_worker_names_itself_so_that_its_readers_find_it():
    assert service.WorkerConfig("d:1").settings().address == "localhost:%port%"
    open_to_all = service.WorkerConfig("d:1", host="0.0.0.0", insecure=True)
    assert open_to_all.settings().address == f"{socket.gethostname()}:%port%"
    named = service.WorkerConfig("d:1", worker_address="w7:%port%", host="0.0.0.0", insecure=True)
    assert {server.address for server in named.settings().transfer_servers} == {"w7:%port%"}


@pytest.mark.parametrize("make", [service.DispatcherConfig, lambda **more: service.WorkerConfig("d:1", **more)])
def test_strangers_are_let_in_only_on_demand(make):
    with pytest.raises(tf.errors.InvalidArgumentError, match="insecure=True"):
        make(host="0.0.0.0")


def test_fault_tolerance_needs_a_directory_or_a_bucket():
    with pytest.raises(ValueError, match="work dir"):
        service.DispatcherConfig(fault_tolerant_mode=True)
    assert service.DispatcherConfig(work_dir="d").journal_dir() is None
    assert service.DispatcherConfig(work_dir="d", fault_tolerant_mode=True).journal_dir() == "d"
    bucket = service.DispatcherConfig(work_dir="gs://b/d", fault_tolerant_mode=True)
    assert bucket.journal_dir() == "gs://b/d"
