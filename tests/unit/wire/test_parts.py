"""An answer in several messages: what is put together is what was taken apart."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfsvc.errors import Code, RpcError
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.messages import GetFramesResponse
from tfsvc.wire import parts
from tfsvc.wire.errors import WireError
from tfsvc.wire.parts import decode_parts, encode_in_parts
from tfsvc.wire.streams import encode_frames

MEBIBYTE = 1 << 20
_ERRORS = st.none() | st.builds(RpcError, st.just(Code.INTERNAL), st.text(max_size=5))
_FRAMES = st.builds(Frame, st.integers(0, 2**62), st.integers(0, 9), st.binary(max_size=60), _ERRORS)
_RESPONSES = st.builds(GetFramesResponse, st.lists(_FRAMES, max_size=4).map(tuple), st.booleans())


def body(size: int) -> bytes:
    return bytes(range(251)) * (size // 251) + bytes(size % 251)


def response(*sizes: int) -> GetFramesResponse:
    return GetFramesResponse(tuple(Frame(at, 1, body(size)) for at, size in enumerate(sizes)), True)


@pytest.mark.parametrize(
    ("sizes", "pieces"),
    [
        ((), 0),
        ((5,), 0),
        ((MEBIBYTE - 1,), 0),
        ((MEBIBYTE,), 1),
        ((MEBIBYTE + 300, 0, MEBIBYTE + 300), 2),
        ((4 * MEBIBYTE + 7,), 4),
        ((5 * MEBIBYTE // 2, 200_000), 3),
        ((MEBIBYTE, *[100] * 8), 0),
    ],
)
def test_large_bodies_follow_in_pieces_of_about_a_mebibyte(sizes: tuple[int, ...], pieces: int) -> None:
    messages = list(encode_in_parts(response(*sizes)))
    assert len(messages) == 1 + pieces
    assert max(map(len, messages[1:]), default=0) < 1.5 * MEBIBYTE
    assert decode_parts(iter(messages)) == response(*sizes)


def test_a_body_of_one_piece_is_not_copied() -> None:
    whole = response(MEBIBYTE)
    _, piece = encode_in_parts(whole)
    assert piece is whole.frames[0].body
    (frame,) = decode_parts(iter(encode_in_parts(whole))).frames
    assert isinstance(frame.body, memoryview)
    assert frame.body.obj is piece


@given(_RESPONSES, st.integers(1, 20))
def test_responses_come_back(whole: GetFramesResponse, size: int) -> None:
    with patch.object(parts, "PIECE_BYTES", size), patch.object(parts, "WORTH_BYTES", 0):
        assert decode_parts(encode_in_parts(whole)) == whole


@given(_RESPONSES)
def test_a_response_in_one_message_is_read_too(whole: GetFramesResponse) -> None:
    assert decode_parts(iter([encode_frames(whole)])) == whole


@given(_RESPONSES, st.integers(1, 20), st.data())
def test_messages_that_are_missing_cut_or_too_many_are_an_error(
    whole: GetFramesResponse, size: int, data: st.DataObject
) -> None:
    with patch.object(parts, "PIECE_BYTES", size), patch.object(parts, "WORTH_BYTES", 0):
        messages = list(encode_in_parts(whole))
    index = data.draw(st.integers(1, len(messages)))
    match data.draw(st.sampled_from(["missing", "cut", "more"])):
        case "missing" if index < len(messages):
            del messages[index]
        case "cut" if index < len(messages):
            messages[index] = messages[index][:-1]
        case _:
            messages.insert(index, b"more")
    with pytest.raises(WireError):
        decode_parts(iter(messages))


def test_no_message_is_an_error() -> None:
    with pytest.raises(WireError, match="there is no message"):
        decode_parts(iter(()))


def test_a_claimed_length_allocates_nothing() -> None:
    class Vast(bytes):
        def __len__(self) -> int:
            return 1 << 60

    head = encode_frames(GetFramesResponse((Frame(0, 1, Vast()),)), [-1])
    with pytest.raises(WireError, match=f"3 bytes follow for a body of {1 << 60}"):
        decode_parts(iter([head, b"abc"]))
