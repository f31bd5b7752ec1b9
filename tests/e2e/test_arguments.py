"""Nonsense in arguments is refused at once, by a typed error that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tfsvc as tf
from tests.e2e.conftest import Service, service

Dataset = tf.data.Dataset
INVALID = tf.errors.InvalidArgumentError


@pytest.mark.parametrize(
    "address",
    [None, 5, "", "grpc://", "localhost", "localhost:", "localhost:0", "localhost:99999", "localhost:x", "a b:1"]
    + ["grpc://a:1://b:1", ("grpc", ""), ("grpc", 5), (1, "localhost:1"), ("grpc",), "grpc://host:1/path", "::1:5050"],
)
def test_an_address_that_cannot_be_right_is_not_waited_for(address: Any) -> None:
    with pytest.raises(ValueError, match=r"service|address"):
        service.distribute("parallel_epochs", address)
    with pytest.raises(ValueError, match=r"service|address"):
        service.register_dataset(address, Dataset.range(3))
    with pytest.raises(ValueError, match=r"service|address"):
        service.from_dataset_id("parallel_epochs", address, "1000")
    if not isinstance(address, tuple):
        with pytest.raises(ValueError, match=r"service|address"):
            service.WorkerConfig(address)


@pytest.mark.parametrize("address", ["localhost:1", "127.0.0.1:65535", "[::1]:5050", "grpc://node-3.cluster.local:80"])
def test_an_address_that_may_be_right_is_taken(address: str) -> None:
    service.distribute("parallel_epochs", address)
    assert service.WorkerConfig(address).dispatcher_address == address


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: service.distribute(7, "localhost:1"), ValueError),
        (lambda: service.distribute("dynamic", "localhost:1"), ValueError),
        (lambda: service.distribute("parallel_epochs", "localhost:1", job_name=b"x"), ValueError),
        (lambda: service.distribute("parallel_epochs", "localhost:1", job_name=""), ValueError),
        (lambda: service.distribute("parallel_epochs", "localhost:1", compression=[]), ValueError),
        (lambda: service.distribute("parallel_epochs", "localhost:1", target_workers=None), ValueError),
        (lambda: service.distribute("parallel_epochs", "localhost:1", max_outstanding_requests="2"), ValueError),
        (lambda: service.distribute("parallel_epochs", "localhost:1", task_refresh_interval_hint_ms=0.5), ValueError),
        (lambda: service.distribute("parallel_epochs", "localhost:1")(range(3)), TypeError),
        (lambda: service.register_dataset("localhost:1", Dataset.range(3), dataset_id=5), ValueError),
        (lambda: Dataset.range(3).apply(service.distribute("parallel_epochs", "foo://a:1")), tf.errors.NotFoundError),
        (lambda: service.DispatcherConfig(port=-1), INVALID),
        (lambda: service.DispatcherConfig(port="5050"), INVALID),
        (lambda: service.DispatchServer(service.WorkerConfig("localhost:1")), TypeError),
        (lambda: service.DispatchServer(service.DispatcherConfig(job_gc_timeout_ms="5")), INVALID),
        (lambda: service.WorkerServer(service.DispatcherConfig()), TypeError),
        (lambda: service.WorkerServer(service.WorkerConfig("localhost:1", heartbeat_interval_ms=10**30)), INVALID),
        (lambda: service.WorkerConfig("localhost:1", worker_address="nowhere"), ValueError),
        (lambda: service.WorkerConfig("localhost:1", worker_tags="abc"), INVALID),
        (lambda: service.WorkerConfig("localhost:1", worker_tags=[1]), INVALID),
    ],
)
def test_other_arguments_are_refused(make: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


def test_what_is_no_number_of_requests_leaves_it_to_the_reader(two_workers: Service) -> None:
    for number in (-1, 0, None, 1):
        got = two_workers.read(Dataset.range(10), max_outstanding_requests=number, task_refresh_interval_hint_ms=-1)
        assert len(list(got)) == 10


def test_ids_and_names_that_the_service_does_not_know(two_workers: Service) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="nope"):
        service.from_dataset_id("parallel_epochs", two_workers.target, "nope")
    with pytest.raises(INVALID, match="surrogates"):
        service.register_dataset(two_workers.target, Dataset.range(3), dataset_id="\ud800")
    with pytest.raises(INVALID, match="surrogates"):
        list(two_workers.read(Dataset.range(3), job_name="\ud800"))
    dataset = Dataset.range(3)
    list(two_workers.read(dataset, job_name="job"))
    with pytest.raises(INVALID, match="Choose another job name"):
        list(two_workers.read(dataset, "parallel_epochs", job_name="job"))


@pytest.mark.parametrize(
    "spec", [tf.TensorSpec([], tf.int32), tf.TensorSpec([2], tf.int64), (tf.TensorSpec([], tf.int64),) * 2]
)
def test_a_spec_that_is_not_the_datasets_is_refused(two_workers: Service, spec: Any) -> None:
    name = service.register_dataset(two_workers.target, Dataset.range(4))
    with pytest.raises(INVALID, match="was registered with TensorSpec"):
        service.from_dataset_id("parallel_epochs", two_workers.target, name, element_spec=spec)


def test_a_wider_spec_is_the_readers_own_business(two_workers: Service) -> None:
    name = service.register_dataset(two_workers.target, Dataset.range(4))
    wide = tf.TensorSpec(None, tf.int64)
    read = service.from_dataset_id("distributed_epoch", two_workers.target, name, element_spec=wide)
    assert read.element_spec == wide
    assert sorted(map(int, read)) == [0, 1, 2, 3]
