"""``GetFramesResponse`` with its bodies copied once on their way out and never on their way in.

The bytes are those of the schema's message. But protobuf's library copies a field of bytes into its
message, and again into its output, which for frames of a megabyte is most of the work. Here it writes
and reads everything except the bodies, which are put behind the rest of their frames and read as views.

Where reader and worker share memory, the bodies lie there, and the frames say where. Or they follow in further messages
(``parts.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tfsvc.errors import Code, ResourceExhaustedError, RpcError
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.messages import GetFramesResponse
from tfsvc.protocol.splits import Checkpoint, SplitPosition
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import decodes, parse, serialize
from tfsvc.wire.varints import fields

ALIGNMENT: Final = 16
"""Where bodies start, counted from the start of the message, since that is how memory is allocated."""

MESSAGE_BYTES_MAX: Final = (1 << 31) - 1
"""Protobuf's own limit."""

_FRAMES: Final = b"\x0a"
_BODY: Final = b"\x1a"
_FILLER: Final = b"\x7a"
"""Tag of a field 15 that no schema has: bytes without meaning in front of a body."""
_LENGTH: Final = 5
"""Bytes of a written length; protobuf reads numbers with leading zeros, and so the sizes are known beforehand."""


FOLLOWS: Final = -1
"""The place of a body that comes behind the message."""

Bodies = Callable[[int, int], memoryview]
"""The body at a place, of so many bytes; ``ValueError`` if it is not there."""


def encode_frames(response: GetFramesResponse, places: Sequence[int] | None = None) -> bytes:
    """The bytes of ``response``; equal responses give equal bytes.

    Args:
      places: where each body is, if the message is to go without them: in memory that the reader shares, or
        ``FOLLOWS``.

    Raises:
      ResourceExhaustedError: if the message would exceed protobuf's limit.
    """
    parts: list[bytes | memoryview] = []
    at = 0
    for index, frame in enumerate(response.frames):
        meta = pb.StreamFrame(start=frame.start, count=frame.count, run=frame.run)
        if frame.error is not None:
            meta.error.CopyFrom(pb.ErrorDef(code=frame.error.code, message=frame.error.message))
        if places is not None:
            meta.place, meta.length = places[index], len(frame.body)
            head = serialize(meta)
            parts += (_FRAMES, _number(len(head)), head)
            at += 1 + _LENGTH + len(head)
            continue
        head = serialize(meta)
        body_at = at + 2 * (1 + _LENGTH) + len(head)
        head += _filler(-body_at % ALIGNMENT)
        size = len(head) + 1 + _LENGTH + len(frame.body)
        parts += (_FRAMES, _number(size), head, _BODY, _number(len(frame.body)), frame.body)
        at += 1 + _LENGTH + size
    tail = pb.GetFramesResponse(end_of_stream=response.end_of_stream, run=response.run)
    if response.checkpoint is not None:
        tail.checkpoint.CopyFrom(_checkpoint_to_proto(response.checkpoint))
    parts.append(serialize(tail))
    return b"".join(parts)


@decodes("a GetFramesResponse")
def decode_frames(data: bytes, bodies: Bodies | None = None) -> GetFramesResponse:
    """The response in ``data``; the bodies are views of it, or come from elsewhere, in the order of the frames.

    Raises:
      WireError: if the bytes are not such a message.
    """
    frames: list[Frame] = []
    rest: list[memoryview] = []
    for tag, field, value in fields(memoryview(data)):
        if tag == _FRAMES[0]:
            frames.append(_decode_frame(value, bodies))
        else:
            rest.append(field)
    tail = parse(pb.GetFramesResponse, b"".join(rest))
    checkpoint = _checkpoint_from_proto(tail.checkpoint) if tail.HasField("checkpoint") else None
    return GetFramesResponse(tuple(frames), tail.end_of_stream, tail.run, checkpoint)


def _checkpoint_to_proto(checkpoint: Checkpoint) -> pb.CheckpointDef:
    positions = [pb.SplitPositionDef(repetition=p.repetition, offset=p.offset) for p in checkpoint.positions]
    return pb.CheckpointDef(ordinal=checkpoint.ordinal, positions=positions, state=checkpoint.state, run=checkpoint.run)


def _checkpoint_from_proto(message: pb.CheckpointDef) -> Checkpoint:
    positions = tuple(SplitPosition(p.repetition, p.offset) for p in message.positions)
    return Checkpoint(message.ordinal, positions, message.state, message.run)


def _decode_frame(data: memoryview, bodies: Bodies | None) -> Frame:
    body: bytes | memoryview = b""
    rest: list[memoryview] = []
    for tag, field, value in fields(data):
        if tag == _BODY[0]:
            body = value
        elif tag != _FILLER[0]:
            rest.append(field)
    meta = parse(pb.StreamFrame, b"".join(rest))
    if meta.length:
        if bodies is None:
            raise ValueError("a body lies in shared memory, but none was offered")
        body = bodies(meta.place, meta.length)
    error = RpcError(Code(meta.error.code), meta.error.message) if meta.HasField("error") else None
    return Frame(meta.start, meta.count, body, error, meta.run)


def _number(value: int) -> bytes:
    """``value`` as a varint of five bytes."""
    if value > MESSAGE_BYTES_MAX:
        raise ResourceExhaustedError(
            message=f"a message of {value} bytes exceeds protobuf's limit of {MESSAGE_BYTES_MAX}. Make smaller "
            "elements, or run reader and worker on one host, where they travel through shared memory."
        )
    return bytes((value >> shift & 0x7F) | 0x80 for shift in (0, 7, 14, 21)) + bytes((value >> 28,))


def _filler(size: int) -> bytes:
    """A field of ``size`` bytes, modulo the alignment; a field has at least two."""
    if size == 0:
        return b""
    size = size if size >= 2 else size + ALIGNMENT
    return _FILLER + bytes((size - 2,)) + bytes(size - 2)
