"""Configurations: what they mean for the machines, and what they refuse."""

from __future__ import annotations

import dataclasses
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


CHANGED = {
    "job_gc_check_interval_ms": (7, "gc_interval_ns", 7_000_000),
    "job_gc_timeout_ms": (7, "gc_timeout_ns", 7_000_000),
    "worker_timeout_ms": (7, "worker_timeout_ns", 7_000_000),
    "client_timeout_ms": (7, "client_timeout_ns", 7_000_000),
    "gc_dynamic_sharding_jobs": (True, "gc_dynamic_sharding_jobs", True),
    "worker_max_concurrent_snapshots": (1, "snapshots_max", 1),
    "worker_addresses": (["w:1"], "worker_addresses", ("w:1",)),
    "deployment_mode": ("HYBRID", "deployment_mode", 3),
    "exit_when_idle_ms": (7, "idle_ns", 7_000_000),
}
WORKERS = {
    "worker_address": ("w:1", "address", "w:1"),
    "heartbeat_interval_ms": (7, "heartbeat_ns", 7_000_000),
    "dispatcher_timeout_ms": (7, "dispatcher_timeout_ns", 7_000_000),
    "cross_trainer_cache_size_bytes": (7, "cache_bytes", 7),
    "snapshot_max_chunk_size_bytes": (7, "chunk_bytes", 7),
    "worker_tags": (["a"], "tags", ("a",)),
    "shutdown_quiet_period_ms": (7, "quiet_ns", 7_000_000),
    "exit_when_idle_ms": (7, "idle_ns", 7_000_000),
}
OF_THE_SERVER = {
    "port",
    "protocol",
    "work_dir",
    "fault_tolerant_mode",
    "host",
    "insecure",
    "own_process",
    "dispatcher_address",
    "data_transfer_protocol",
    "data_transfer_address",
    "data_transfer_port",
    "record_dir",
    "http_port",
    "http_host",
    "security",
}
"""What the machines need not know; tests of servers show what they do."""


@pytest.mark.parametrize(
    ("make", "changed"),
    [(service.DispatcherConfig, CHANGED), (lambda **more: service.WorkerConfig("d:1", **more), WORKERS)],
)
def test_every_field_of_a_configuration_reaches_its_machine(make, changed):
    default = make().settings()
    for field, (value, setting, expected) in changed.items():
        assert getattr(default, setting) != expected, field
        assert getattr(make(**{field: value}).settings(), setting) == expected, field
    fields = {field.name for field in dataclasses.fields(make())}
    assert fields - set(changed) <= OF_THE_SERVER


def test_elements_may_have_an_address_of_their_own():
    def servers(**more):
        return [s.address for s in service.WorkerConfig("d:1", **more).settings().transfer_servers]

    assert servers() == ["localhost:%port%", "localhost:%port%"]
    assert servers(data_transfer_port=0) == ["localhost:%port%", "localhost:%dts_port%"]
    assert servers(data_transfer_address="fast:%dts_port%") == ["localhost:%port%", "fast:%dts_port%"]
    with pytest.raises(ValueError, match="Malformed address"):
        service.WorkerConfig("d:1", data_transfer_address="fast")


def test_a_way_of_transfer_that_there_is_not_is_warned_of(caplog):
    service.WorkerConfig("d:1", data_transfer_protocol="pigeon")
    assert "'pigeon' is not known" in caplog.text
