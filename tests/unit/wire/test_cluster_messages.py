"""Messages of cluster servers: what TensorFlow's numbers mean, and tensors that pass through as bytes."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

import numpy as np
import pytest

from tfsvc.protocol.messages import cluster as c
from tfsvc.wire import cluster_pb2 as pb
from tfsvc.wire.errors import serialize
from tfsvc.wire.messages import METHODS, decode, encode
from tfsvc.wire.tensors import from_proto, to_proto

KINDS = (*get_args(c.MasterRequest), *get_args(c.TaskRequest), *get_args(c.ClusterResponse))
TENSOR = serialize(to_proto(np.arange(3)))


def filled(kind: Any) -> Any:
    """A message with something in each of its fields."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        made = {
            "str": "text",
            "int": 7,
            "bool": True,
            "bytes": b"\x0a\x01x",
            "tuple[str, ...]": ("a", "b"),
            "tuple[bytes, ...]": (TENSOR, b""),
            "tuple[NamedTensor, ...]": (c.NamedTensor("a:0", TENSOR), c.NamedTensor()),
            "tuple[DeviceAttributes, ...]": (c.DeviceAttributes("d", "CPU", 5, 2**63),),
            "SessionConfig": c.SessionConfig(("/job:a",), True, 9, True, c.ClusterDef((c.JobDef("j"),))),
            "RunOptions": c.RunOptions(5),
            "CallableOptions": c.CallableOptions(("f",), ("g",), (), c.RunOptions(1)),
        }
        values[field.name] = made[str(field.type)]
    return kind(**values)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_message_comes_back(kind):
    for message in (kind(), filled(kind)):
        assert decode(kind, encode(message)) == message


@pytest.mark.parametrize("kind", [c.RunStepRequest, c.RunStepResponse, c.RunGraphRequest, c.RunGraphResponse])
def test_tensors_stand_where_the_schema_has_them(kind):
    message = filled(kind)
    parsed = getattr(pb, kind.__name__).FromString(encode(message))
    field = {
        c.RunStepRequest: "feed",
        c.RunStepResponse: "tensor",
        c.RunGraphRequest: "send",
        c.RunGraphResponse: "recv",
    }
    assert [(t.name, t.tensor) for t in getattr(parsed, field[kind])] == [("a:0", TENSOR), ("", b"")]


def test_a_tensor_is_the_same_message_as_its_bytes():
    request = pb.RunStepRequest.FromString(encode(c.RunStepRequest(feed=(c.NamedTensor("a:0", TENSOR),))))
    from tfsvc.wire import tfsvc_pb2

    read = tfsvc_pb2.NamedTensorProto.FromString(request.feed[0].SerializeToString())
    np.testing.assert_array_equal(from_proto(read.tensor), np.arange(3))


def test_paths_are_tensorflows():
    assert METHODS[c.RunStepRequest].path == "/tensorflow.MasterService/RunStep"
    assert METHODS[c.RecvTensorRequest].path == "/tensorflow.WorkerService/RecvTensor"
