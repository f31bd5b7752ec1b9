"""The services are found by those who know nothing but reflection."""

from __future__ import annotations

import grpc
import pytest
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from tfsvc.data.experimental import service

descriptors = pytest.importorskip(
    "grpc_reflection.v1alpha.proto_reflection_descriptor_database", reason="pip install grpcio-reflection"
)


def target(dispatcher):
    return dispatcher.target.partition("//")[2]


@pytest.fixture
def known(monkeypatch):
    """What reflection tells of a dispatcher, and a channel to it."""
    monkeypatch.setenv("TFSVC_GRPC_REFLECTION", "1")
    config = service.DispatcherConfig(own_process=False)
    with service.DispatchServer(config) as dispatcher, grpc.insecure_channel(target(dispatcher)) as channel:
        yield descriptors.ProtoReflectionDescriptorDatabase(channel), channel


def test_all_services_are_told_by_the_names_they_are_called_by(known):
    database, _ = known
    assert set(database.get_services()) >= {
        "tensorflow.data.DispatcherService",
        "tensorflow.data.WorkerService",
        "tensorflow.rpc.RpcService",
        "tfsvc.DispatcherService",
        "tfsvc.WorkerService",
    }


def test_a_call_is_made_with_what_was_learned(known):
    database, channel = known
    pool = DescriptorPool(database)
    method = pool.FindServiceByName("tfsvc.DispatcherService").FindMethodByName("DescribeService")
    request, response = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
    call = channel.unary_unary(
        "/tfsvc.DispatcherService/DescribeService",
        request_serializer=request.SerializeToString,
        response_deserializer=response.FromString,
    )
    assert call(request(), timeout=10).description.census.workers == 0


def test_it_is_off_unless_asked_for():
    config = service.DispatcherConfig(own_process=False)
    with service.DispatchServer(config) as dispatcher, grpc.insecure_channel(target(dispatcher)) as channel:
        database = descriptors.ProtoReflectionDescriptorDatabase(channel)
        with pytest.raises(grpc.RpcError) as refused:
            database.get_services()
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
