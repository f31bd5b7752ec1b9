"""The protocol's messages as protobuf: one rule for all, since both sides name their fields alike.

A dataclass maps to the schema's message of the same name (a few to the name that
``_NAMES`` gives), field by field. What has another form on the wire is listed in ``_SPECIAL``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from enum import IntEnum
from functools import cache
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Final, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from google.protobuf.message import Message

from tfsvc.errors import Code, OpError, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol.messages import cluster as c
from tfsvc.protocol.snapshot_updates import Commit, Gift, Given
from tfsvc.protocol.splits import Checkpoint, Lease, Span, SplitPlan, SplitPosition
from tfsvc.protocol.updates import CursorPoint, Entry, Nonce, Update
from tfsvc.wire import calls, cluster_pb2
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.carriers import carried
from tfsvc.wire.errors import decodes, parse, serialize
from tfsvc.wire.graphs import split_plans
from tfsvc.wire.named_tensors import FIELDS as TENSOR_FIELDS
from tfsvc.wire.named_tensors import append_tensors
from tfsvc.wire.streams import decode_frames, encode_frames
from tfsvc.wire.tensors import from_proto, to_proto

T = TypeVar("T")


class Method(NamedTuple):
    """A remote call: its gRPC path, and what is asked and answered."""

    path: str
    request: type
    response: type


def _methods() -> dict[type, Method]:
    services = (
        ("tensorflow.data.DispatcherService", get_args(m.DispatcherRequest)),
        ("tensorflow.data.WorkerService", get_args(m.WorkerRequest)),
        ("tensorflow.MasterService", get_args(c.MasterRequest)),
        ("tensorflow.WorkerService", get_args(c.TaskRequest)),
        ("tensorflow.rpc.RpcService", get_args(m.RpcRequest)),
        ("tfsvc.NodeService", (m.AboutNodeRequest,)),
    )
    ours: dict[type, str] = {
        m.LeaseSplitsRequest: "Dispatcher",
        m.OpenLaneRequest: "Dispatcher",
        m.OpenStreamRequest: "Dispatcher",
        m.CommitChunkRequest: "Dispatcher",
        m.GetScalingRequest: "Dispatcher",
        m.DescribeServiceRequest: "Dispatcher",
        m.GetChronicleRequest: "Dispatcher",
        m.DrainWorkerRequest: "Dispatcher",
        m.StopServiceRequest: "Dispatcher",
        m.GetFramesRequest: "Worker",
        m.FetchItemsRequest: "Rpc",
        m.CancelCallRequest: "Rpc",
        m.EndSessionRequest: "Rpc",
        m.AboutNodeRequest: "Node",
    }
    found = {}
    for service, kinds in services:
        for kind in kinds:
            name = kind.__name__.removesuffix("Request")
            owner = f"tfsvc.{ours[kind]}Service" if kind in ours else service
            found[kind] = Method(f"/{owner}/{name}", kind, getattr(sys.modules[kind.__module__], f"{name}Response"))
    return found


METHODS: Final[dict[type, Method]] = _methods()
"""Every call by its request type."""


UPDATES: Final[tuple[type, ...]] = get_args(Update)


def encode(message: Any) -> bytes:
    """The bytes of a request, a response or an update; equal ones have equal bytes."""
    by_hand = _BY_HAND.get(type(message))
    if by_hand is not None:
        return by_hand.encode(message)
    tensors = TENSOR_FIELDS.get(type(message))
    if tensors is None:
        return serialize(pack(message))
    head = serialize(pack(replace(message, **{tensors.name: ()})))
    return append_tensors(head, tensors.tag, getattr(message, tensors.name))


def decode(kind: type[T], data: bytes) -> T:
    """The request, response or update of type ``kind`` in ``data``.

    Raises:
      WireError: if the bytes are not such a message.
    """
    by_hand = _BY_HAND.get(kind)
    found: T = _decode(kind, data) if by_hand is None else by_hand.decode(data)
    return found


class _ByHand(NamedTuple):
    """Both directions of a message whose bytes are too many for protobuf's library, which copies them."""

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


_BY_HAND: Final[dict[type, _ByHand]] = {
    m.GetFramesResponse: _ByHand(encode_frames, decode_frames),
    m.CallRequest: _ByHand(calls.encode_request, calls.decode_request),
    m.CallResponse: _ByHand(calls.encode_response, calls.decode_response),
}


@decodes("a message")
def _decode(kind: Any, data: bytes) -> Any:
    return unpack(kind, parse(schema(kind), data))


_NAMES: Final = {
    Checkpoint: "CheckpointDef",
    Lease: "LeaseDef",
    Span: "SpanDef",
    SplitPosition: "SplitPositionDef",
    SplitPlan: "SplitPlanDef",
    RpcError: "ErrorDef",
    c.SessionConfig: "ConfigProto",
    Nonce: "NonceDef",
    Entry: "EntryDef",
    CursorPoint: "CursorPointDef",
    Commit: "CommitDef",
    Gift: "GiftDef",
    Given: "GivenDef",
    **{update: f"{update.__name__}Update" for update in UPDATES},
}


@cache
def schema(kind: Any) -> type[Message]:
    """Protobuf's class for a message of ours."""
    name = _NAMES.get(kind, kind.__name__)
    found: type[Message] = getattr(pb, name, None) or getattr(cluster_pb2, name)
    return found


@dataclass(frozen=True, slots=True)
class _Field:
    """How one field travels: ``read`` finds its value in a message."""

    name: str
    nested: bool
    repeated: bool
    read: Callable[[Message], Any]

    def write(self, message: Message, value: Any) -> None:
        if value is None:
            return
        if self.repeated:
            target = getattr(message, self.name)
            target.extend([pack(item) for item in value] if self.nested else value)
        elif self.nested:
            getattr(message, self.name).CopyFrom(pack(value))
        else:
            setattr(message, self.name, value)


@cache
def _fields(kind: Any) -> tuple[_Field, ...]:
    known = schema(kind).DESCRIPTOR.fields_by_name
    return tuple(_field(name, hint) for name, hint in get_type_hints(kind).items() if name in known)


def _field(name: str, hint: Any) -> _Field:
    optional = get_origin(hint) in (Union, UnionType)
    if optional:
        (hint,) = (arg for arg in get_args(hint) if arg is not NoneType)
    repeated = get_origin(hint) is tuple
    item: type = get_args(hint)[0] if repeated else hint
    nested = is_dataclass(item) or issubclass(item, tuple)
    read = _reader(name, item, nested, repeated)
    if optional:
        return _Field(name, nested, repeated, lambda message: read(message) if message.HasField(name) else None)
    return _Field(name, nested, repeated, read)


def _reader(name: str, item: type, nested: bool, repeated: bool) -> Callable[[Any], Any]:
    """How a field is read; ``item`` is the type of its value, or of each value of a tuple."""
    get = attrgetter(name)
    if repeated and nested:
        return lambda message: tuple([unpack(item, value) for value in get(message)])
    if repeated:
        return lambda message: tuple(get(message))
    if nested:
        return lambda message: unpack(item, get(message))
    if issubclass(item, IntEnum):
        return lambda message: item(get(message))
    return get


def pack(value: Any) -> Message:
    """A message, an update or a part of one as protobuf."""
    special = _SPECIAL.get(type(value))
    if special is not None:
        return special.write(value)
    kind: Any = type(value)
    message = schema(kind)()
    for field in _fields(kind):
        field.write(message, getattr(value, field.name))
    return message


def unpack(kind: Any, message: Any) -> Any:
    """The other way: the value of type ``kind`` in ``message``."""
    special = _SPECIAL.get(kind)
    if special is not None:
        return special.read(message)
    return kind(**{field.name: field.read(message) for field in _fields(kind)})


class _Special(NamedTuple):
    """Both directions of a message that does not map field by field."""

    write: Callable[[Any], Message]
    read: Callable[[Any], Any]


def _write_split(value: m.GetSplitResponse) -> Message:
    message = pb.GetSplitResponse(end_of_splits=value.end_of_splits)
    if value.split is not None:
        message.split.CopyFrom(to_proto(np.int64(value.split)))
    return message


def _read_split(message: pb.GetSplitResponse) -> m.GetSplitResponse:
    split = int(from_proto(message.split)) if message.HasField("split") else None
    return m.GetSplitResponse(split, message.end_of_splits)


def _write_snapshot_split(value: m.GetSnapshotSplitResponse) -> Message:
    message = pb.GetSnapshotSplitResponse(local_split_index=value.local_split_index)
    if value.split is None:
        message.end_of_splits = value.end_of_splits
    else:
        message.split.CopyFrom(to_proto(np.int64(value.split)))
    return message


def _read_snapshot_split(message: pb.GetSnapshotSplitResponse) -> m.GetSnapshotSplitResponse:
    split = int(from_proto(message.split)) if message.HasField("split") else None
    return m.GetSnapshotSplitResponse(split, message.end_of_splits, message.local_split_index)


def _write_progress(value: m.SnapshotTaskProgress) -> pb.SnapshotTaskProgress:
    status = None if value.error is None else status_of(value.error)
    task: Any = pack(value.snapshot_task)
    return pb.SnapshotTaskProgress(snapshot_task=task, completed=value.completed, status=status)


def status_of(error: RpcError) -> pb.StatusProto:
    """An error as TensorFlow's files and messages have it."""
    code: Any = int(error.code)
    return pb.StatusProto(code=code, message=error.message)


def _read_progress(message: pb.SnapshotTaskProgress) -> m.SnapshotTaskProgress:
    error = RpcError(Code(message.status.code), message.status.message) if message.status.code else None
    return m.SnapshotTaskProgress(unpack(m.SnapshotTaskDef, message.snapshot_task), message.completed, error)


def _write_heartbeat(value: m.WorkerHeartbeatRequest) -> Message:
    message = pb.WorkerHeartbeatRequest()
    for field in _fields(m.WorkerHeartbeatRequest):
        if field.name != _PROGRESS:
            field.write(message, getattr(value, field.name))
    for progress in value.snapshot_task_progress:
        message.snapshot_task_progress[progress.snapshot_task.base_path].MergeFrom(_write_progress(progress))
    return message


def _read_heartbeat(message: pb.WorkerHeartbeatRequest) -> m.WorkerHeartbeatRequest:
    known: dict[str, Any] = {
        field.name: field.read(message) for field in _fields(m.WorkerHeartbeatRequest) if field.name != _PROGRESS
    }
    progress = message.snapshot_task_progress
    return m.WorkerHeartbeatRequest(
        **known, snapshot_task_progress=tuple(_read_progress(progress[path]) for path in sorted(progress))
    )


_PROGRESS: Final = "snapshot_task_progress"
"""A map on the wire, by the path that each progress names itself."""


def _write_element(value: m.GetElementResponse) -> Message:
    message = pb.GetElementResponse.FromString(value.element)
    message.element_index = value.element_index
    message.end_of_sequence = value.end_of_sequence
    message.skip_task = value.skip_task
    message.passed_over = value.passed_over
    return message


def _read_element(message: pb.GetElementResponse) -> m.GetElementResponse:
    element = pb.GetElementResponse()
    if message.HasField("compressed"):
        element.compressed.CopyFrom(message.compressed)
    elif message.HasField("uncompressed"):
        element.uncompressed.CopyFrom(message.uncompressed)
    return m.GetElementResponse(
        serialize(element), message.element_index, message.end_of_sequence, message.skip_task, message.passed_over
    )


def _write_dataset(value: m.DatasetDef) -> Message:
    message = pb.DatasetDef()
    for field in _fields(m.DatasetDef):
        field.write(message, getattr(value, field.name))
    return message


def _read_dataset(message: pb.DatasetDef) -> m.DatasetDef:
    """A dataset of TensorFlow's comes as a graph alone; its splits, or the dataset of ours in it, are found here."""
    found = m.DatasetDef(**{field.name: field.read(message) for field in _fields(m.DatasetDef)})
    if not found.graph or found.plans or found.unsplittable:
        return found
    try:
        ours = carried(found.graph)
        if ours is not None:
            return _read_dataset(ours)
        return replace(found, plans=split_plans(found.graph))
    except OpError as error:
        return replace(found, unsplittable=error.message)


def _write_response(value: m.CallResponse) -> Message:
    return pb.CallResponse.FromString(calls.encode_response(value))


def _read_response(message: pb.CallResponse) -> m.CallResponse:
    return calls.decode_response(serialize(message))


def _write_error(value: RpcError) -> Message:
    return pb.ErrorDef(code=value.code, message=value.message)


def _read_error(message: pb.ErrorDef) -> RpcError:
    return RpcError(Code(message.code), message.message)


_SPECIAL: Final = {
    m.GetSplitResponse: _Special(_write_split, _read_split),
    m.GetSnapshotSplitResponse: _Special(_write_snapshot_split, _read_snapshot_split),
    m.SnapshotTaskProgress: _Special(_write_progress, _read_progress),
    m.WorkerHeartbeatRequest: _Special(_write_heartbeat, _read_heartbeat),
    m.GetElementResponse: _Special(_write_element, _read_element),
    m.DatasetDef: _Special(_write_dataset, _read_dataset),
    m.CallResponse: _Special(_write_response, _read_response),
    RpcError: _Special(_write_error, _read_error),
}
