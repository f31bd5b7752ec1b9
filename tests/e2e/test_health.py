"""Nodes are asked for their health by the clients that others have."""

from __future__ import annotations

from contextlib import contextmanager

import grpc
import pytest

from tfsvc.data.experimental import service

health_pb2 = pytest.importorskip("grpc_health.v1.health_pb2", reason="pip install grpcio-health-checking")
health_pb2_grpc = pytest.importorskip("grpc_health.v1.health_pb2_grpc")

DISPATCHER, WORKER = "tensorflow.data.DispatcherService", "tensorflow.data.WorkerService"
SERVING = health_pb2.HealthCheckResponse.SERVING


@contextmanager
def asking(port):
    with grpc.insecure_channel(f"localhost:{port}") as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        yield lambda name: stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=10).status


@pytest.fixture(scope="module")
def cluster():
    with (
        service.DispatchServer(service.DispatcherConfig(own_process=False)) as dispatcher,
        service.WorkerServer(service.WorkerConfig(dispatcher.target)) as worker,
    ):
        yield int(dispatcher.target.rpartition(":")[2]), worker.port


def test_each_node_serves_as_a_whole_and_by_its_name(cluster):
    for port, own, other in ((cluster[0], DISPATCHER, WORKER), (cluster[1], WORKER, DISPATCHER)):
        with asking(port) as check:
            assert check("") == check(own) == SERVING
            with pytest.raises(grpc.RpcError) as refused:
                check(other)
            assert refused.value.code() is grpc.StatusCode.NOT_FOUND


def test_names_that_nobody_has(cluster):
    with asking(cluster[0]) as check, pytest.raises(grpc.RpcError) as refused:
        check("something.Else")
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND
    assert "something.Else" in refused.value.details()


def test_watching_is_not_offered(cluster):
    with grpc.insecure_channel(f"localhost:{cluster[0]}") as channel:
        watching = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=10)
        with pytest.raises(grpc.RpcError) as refused:
            next(watching)
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_what_is_no_question(cluster):
    with grpc.insecure_channel(f"localhost:{cluster[0]}") as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check")
        with pytest.raises(grpc.RpcError) as refused:
            check(b"\xff\xff\xff", timeout=10)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_a_node_that_has_ended_serves_no_more():
    with service.DispatchServer(service.DispatcherConfig(own_process=False)) as dispatcher:
        port = int(dispatcher.target.rpartition(":")[2])
    with asking(port) as check, pytest.raises(grpc.RpcError) as refused:
        check("")
    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
