"""The schema of clusters has TensorFlow's fields; TensorFlow's own objects are taken where ours are."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tfsvc.wire import cluster_pb2 as pb

tf = pytest.importorskip("tensorflow")
import tfsvc  # noqa: E402

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]

SCHEMAS = {
    "protobuf.cluster": ("JobDef", "ClusterDef"),
    "protobuf.device_filters": ("TaskDeviceFilters", "JobDeviceFilters", "ClusterDeviceFilters"),
    "protobuf.tensorflow_server": ("ServerDef",),
    "protobuf.config": ("ConfigProto", "RunOptions", "GPUOptions", "GraphOptions", "CallableOptions"),
    "protobuf.tensor_bundle": ("BundleHeaderProto", "BundleEntryProto"),
    "framework.device_attributes": ("DeviceAttributes", "DeviceLocality"),
    "framework.op_def": ("OpDef",),
}
OPAQUE = {("BundleHeaderProto", "endianness"), ("BundleEntryProto", "slices")}
"""Fields whose enum is a number here, or whose message is bytes: both are the same on the wire."""


def shape_of(field: Any) -> tuple[Any, ...]:
    of = field.message_type or field.enum_type
    return field.number, field.type, of and of.name


@pytest.mark.parametrize(("schema", "name"), [(s, name) for s, names in SCHEMAS.items() for name in names])
def test_the_fields_are_tensorflows(schema: str, name: str) -> None:
    theirs = importlib.import_module(f"tensorflow.core.{schema}_pb2").DESCRIPTOR.message_types_by_name[name]
    for field in pb.DESCRIPTOR.message_types_by_name[name].fields:
        if (name, field.name) not in OPAQUE:
            assert shape_of(field) == shape_of(theirs.fields_by_name[field.name]), field.name
        else:
            assert field.number == theirs.fields_by_name[field.name].number


def test_tensorflows_messages_are_taken_for_ours() -> None:
    spec = tf.train.ClusterSpec({"a": ["localhost:0"], "b": {3: "x:1"}})
    ours = tfsvc.train.ClusterSpec(spec.as_cluster_def())
    assert ours.as_dict() == spec.as_dict()
    assert str(ours.as_cluster_def()) == str(spec.as_cluster_def())
    server_def = tf.train.ServerDef(cluster=spec.as_cluster_def(), job_name="a", protocol="grpc")
    config = tf.compat.v1.ConfigProto(allow_soft_placement=True, device_filters=["/job:a"])
    with tfsvc.distribute.Server(server_def, config=config, start=False) as server:
        server_def.default_session_config.MergeFrom(config)
        assert str(server.server_def) == str(server_def)


@pytest.mark.parametrize(
    "cluster",
    [{"a": ["x:1", "y:2"]}, {"a": {7: "x:1"}, "b": ["y:2"]}, {"a": []}, {"b": ["x:1"], "a": {"2": "y:2"}}, {}],
)
def test_cluster_specs_answer_alike(cluster: Any) -> None:
    ours, theirs = tfsvc.train.ClusterSpec(cluster), tf.train.ClusterSpec(cluster)
    assert repr(ours) == repr(theirs)
    assert bool(ours) == bool(theirs)
    assert ours.jobs == theirs.jobs
    assert ours.as_dict() == theirs.as_dict()
    assert ours.as_cluster_def().SerializeToString(deterministic=True) == theirs.as_cluster_def().SerializeToString(
        deterministic=True
    )
    for job in ours.jobs:
        assert ours.num_tasks(job) == theirs.num_tasks(job)
        assert ours.task_indices(job) == theirs.task_indices(job)
        if ours.num_tasks(job):
            assert ours.job_tasks(job) == theirs.job_tasks(job)
