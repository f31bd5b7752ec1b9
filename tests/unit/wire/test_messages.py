"""The protocol's messages on the wire: there and back, and as TensorFlow numbers them."""

from __future__ import annotations

from typing import get_args

import pytest

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.splits import Checkpoint, Lease, Span, SplitPlan, SplitPosition
from tfsvc.wire.errors import WireError
from tfsvc.wire.messages import METHODS, decode, encode

KINDS = [kind for union in (m.Request, m.Response) for kind in get_args(union)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_message_with_nothing_in_it_comes_back(kind):
    assert decode(kind, encode(kind())) == kind()


@pytest.mark.parametrize(
    "message",
    [
        m.ClientHeartbeatRequest(
            5, None, 3, 1.5, True, (m.LaneProgress(1, 2, True),), (m.LaneComplaint(1, 2, "x", True),)
        ),
        m.OpenLaneResponse(
            Checkpoint(3, (SplitPosition(1, 2),), b"s"), (Lease(0, SplitPosition(0, 1), (Span(1, 2),), True),)
        ),
        m.GetFramesResponse((Frame(0, 2, b"abc"), Frame(2, 1, b"", RpcError(Code.INTERNAL, "boo"))), True),
        m.GetSplitResponse(split=-7),
        m.GetSplitResponse(end_of_splits=True),
        m.GetOrRegisterDatasetRequest(m.DatasetDef(b"", b"p", (SplitPlan(None), SplitPlan(0), SplitPlan(3, 5, -1)))),
        m.GetOrCreateJobRequest("1000", m.ProcessingModeDef(m.ShardingPolicy.HINT), "", 0, True, m.TargetWorkers.LOCAL),
        m.TaskDef(path="p", num_consumers=0, seed=2**62),
        m.DisableCompressionAtRuntimeResponse(compression_disabled_at_runtime=False),
        m.GetDataServiceMetadataResponse(m.DataServiceMetadata(b"", m.Compression.FORCED_SNAPPY, -1)),
    ],
    ids=lambda message: type(message).__name__,
)
def test_a_message_comes_back_with_all_that_is_in_it(message):
    assert decode(type(message), encode(message)) == message


def test_fields_have_tensorflows_numbers():
    assert encode(m.GetOrCreateIterationRequest(5000, 2)).hex() == "0888271002"
    assert encode(m.WorkerUpdateRequest("w", (m.TaskProgress(4000, True),))).hex() == "0a017712050" + "8a01f1001"
    assert encode(m.GetVersionResponse(9)).hex() == "0809"


def test_every_call_has_its_path():
    assert METHODS[m.GetElementRequest].path == "/tensorflow.data.WorkerService/GetElement"
    assert METHODS[m.GetVersionRequest].path == "/tensorflow.data.DispatcherService/GetVersion"
    assert METHODS[m.GetFramesRequest].path == "/tfsvc.WorkerService/GetFrames"
    assert {method.response.__name__.removesuffix("Response") for method in METHODS.values()} == {
        kind.__name__.removesuffix("Request") for kind in METHODS
    }


@pytest.mark.parametrize("data", [b"\xff", b"\x0a\x7f", b"\x08" + b"\xff" * 11])
def test_damaged_bytes_are_a_typed_error(data):
    for kind in KINDS:
        if kind in (m.GetVersionRequest, m.WorkerUpdateResponse) and data[:1] == b"\x08":
            continue
        with pytest.raises(WireError):
            decode(kind, data)


def test_a_policy_that_nobody_knows_is_a_typed_error():
    request = encode(m.GetOrCreateJobRequest(processing_mode_def=m.ProcessingModeDef(m.ShardingPolicy.HINT)))
    with pytest.raises(WireError):
        decode(m.GetOrCreateJobRequest, request.replace(b"\x08\x05", b"\x08\x63"))
