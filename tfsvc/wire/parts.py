"""``GetFramesResponse`` in several messages: the frames without their bodies, then the bodies, large ones in pieces.

A message is handed on when all of it is there, and is copied by one side while the other waits. Of an answer in pieces
one side writes the next while the other reads the last, and the limit to the size of a message is none to an element's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tfsvc.protocol.frames import Frame
from tfsvc.protocol.messages import GetFramesResponse
from tfsvc.wire.errors import WireError
from tfsvc.wire.streams import FOLLOWS, decode_frames, encode_frames

PIECE_BYTES: Final = 1 << 20
"""About so large is a piece. Smaller ones cost more calls of Python, larger ones leave the processor's caches."""

WORTH_BYTES: Final = 128 << 10
"""Bodies smaller than this, on average, travel as fast in one message."""

_WHAT: Final = "a GetFramesResponse"


def encode_in_parts(response: GetFramesResponse) -> Iterator[bytes]:
    """The messages of ``response``; one, as ``encode_frames`` makes it, where more are not worth while.

    Raises:
      ResourceExhaustedError: from the first message on, if it would exceed protobuf's limit.
    """
    if not is_worth_parts(response.frames):
        yield encode_frames(response)
        return
    yield encode_frames(response, [FOLLOWS] * len(response.frames))
    for frame in response.frames:
        yield from _pieces(frame)


def is_worth_parts(frames: Sequence[Frame]) -> bool:
    """Whether an answer of these frames leaves in several messages."""
    size = sum(len(frame.body) for frame in frames)
    return size >= PIECE_BYTES and size >= len(frames) * WORTH_BYTES


def decode_parts(messages: Iterator[bytes]) -> GetFramesResponse:
    """The response whose messages these are, in one or in several.

    The bodies are views of messages; those that came in pieces are put together by one copy.

    Raises:
      WireError: if they are not such messages, or not all of them.
    """
    head = next(messages, None)
    if head is None:
        raise WireError(_WHAT, "there is no message")
    response = decode_frames(head, lambda place, length: _body(messages, place, length))
    if next(messages, None) is not None:
        raise WireError(_WHAT, "more follows than the frames say")
    return response


def _pieces(frame: Frame) -> Iterator[bytes]:
    size = len(frame.body)
    count = max(1, round(size / PIECE_BYTES))
    if count == 1:
        if size:
            yield bytes(frame.body)
        return
    body, step = memoryview(frame.body), -(-size // count)
    for start in range(0, size, step):
        yield bytes(body[start : start + step])


def _body(messages: Iterator[bytes], place: int, length: int) -> memoryview:
    """The next body. Nothing is allocated before the pieces are there."""
    if place != FOLLOWS:
        raise WireError(_WHAT, "a body lies in shared memory, but none was offered")
    pieces, size = [], 0
    while size < length:
        piece = next(messages, b"")
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    if size != length:
        raise WireError(_WHAT, f"{size} bytes follow for a body of {length}")
    return memoryview(pieces[0] if len(pieces) == 1 else b"".join(pieces))
