"""``CallRequest`` and ``CallResponse``, whose tensors are copied once on their way out and never on their way in.

The bytes are those of the schema's messages.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf.message import Message

from tfsvc.protocol.messages import CallRequest, CallResponse, Refusal, Tensors
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import decodes, parse, serialize
from tfsvc.wire.varints import fields, varint

SMALL_BYTES: Final = 4096
"""Shorter messages are read by protobuf's library, which is faster for them."""

_INPUT: Final = b"\x12"
_OUTPUT: Final = b"\x0a"


def encode_request(request: CallRequest) -> bytes:
    """The bytes of a call."""
    head = pb.CallRequest(
        method=request.method,
        session=request.session,
        seq=request.seq,
        floor=request.floor,
        timeout_ns=request.timeout_ns,
    )
    return _joined(head, _INPUT, request.input_tensors)


def encode_response(response: CallResponse) -> bytes:
    """The bytes of an answer."""
    head = pb.CallResponse(structure=response.structure, refusal=response.refusal)
    return _joined(head, _OUTPUT, response.output_tensors)


@decodes("a CallRequest")
def decode_request(data: bytes) -> CallRequest:
    """The call in ``data``; its tensors are views of it.

    Raises:
      WireError: if the bytes are no call.
    """
    if len(data) < SMALL_BYTES:
        head = parse(pb.CallRequest, data)
        tensors: Tensors = tuple(head.input_tensors)
    else:
        head, tensors = _parted(pb.CallRequest, _INPUT, data)
    return CallRequest(head.method, tensors, head.session, head.seq, head.floor, head.timeout_ns)


@decodes("a CallResponse")
def decode_response(data: bytes) -> CallResponse:
    """The answer in ``data``; its tensors are views of it.

    Raises:
      WireError: if the bytes are no answer.
    """
    if len(data) < SMALL_BYTES:
        head = parse(pb.CallResponse, data)
        tensors: Tensors = tuple(head.output_tensors)
    else:
        head, tensors = _parted(pb.CallResponse, _OUTPUT, data)
    return CallResponse(tensors, head.structure, Refusal(head.refusal))


def _joined(head: Message, tag: bytes, tensors: Tensors) -> bytes:
    parts: list[bytes | memoryview] = [serialize(head)]
    for tensor in tensors:
        parts += (tag, varint(len(tensor)), tensor)
    return b"".join(parts)


def _parted(kind: Any, tag: bytes, data: bytes) -> tuple[Any, Tensors]:
    tensors: list[memoryview] = []
    rest: list[memoryview] = []
    for found, field, value in fields(memoryview(data)):
        if found == tag[0]:
            tensors.append(value)
        else:
            rest.append(field)
    return parse(kind, b"".join(rest)), tuple(tensors)
