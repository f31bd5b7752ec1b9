"""The services as gRPC's reflection tells them: under the names by which they are called, with the messages' fields.

They are in a pool of descriptors of their own, since TensorFlow registers the same names in the common one.
"""

from __future__ import annotations

from collections import defaultdict

from google.protobuf import descriptor_pb2, descriptor_pool

from tfsvc.wire import cluster_pb2
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.messages import METHODS, Method, schema


def services() -> tuple[descriptor_pool.DescriptorPool, tuple[str, ...]]:
    """A pool that knows all services and messages, and the services' names."""
    pool = descriptor_pool.DescriptorPool()
    for known in (pb.DESCRIPTOR, cluster_pb2.DESCRIPTOR):
        pool.AddSerializedFile(known.serialized_pb)
    by_service: dict[str, list[Method]] = defaultdict(list)
    for method in METHODS.values():
        by_service[method.path.split("/")[1]].append(method)
    for name, methods in by_service.items():
        pool.AddSerializedFile(_file(name, methods).SerializeToString())
    return pool, tuple(by_service)


def _file(service: str, methods: list[Method]) -> descriptor_pb2.FileDescriptorProto:
    package, _, name = service.rpartition(".")
    file = descriptor_pb2.FileDescriptorProto(
        name=f"tfsvc/{service.replace('.', '/')}.proto",
        package=package,
        syntax="proto3",
        dependency=[pb.DESCRIPTOR.name, cluster_pb2.DESCRIPTOR.name],
    )
    made = file.service.add(name=name)
    for method in methods:
        made.method.add(
            name=method.path.rpartition("/")[2],
            input_type=f".{schema(method.request).DESCRIPTOR.full_name}",
            output_type=f".{schema(method.response).DESCRIPTOR.full_name}",
        )
    return file
