"""The frames of a response: the schema's bytes, with aligned bodies that are not copied."""

from __future__ import annotations

from contextlib import suppress
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfsvc.errors import Code, ResourceExhaustedError, RpcError
from tfsvc.protocol.frames import Frame
from tfsvc.protocol.messages import GetFramesResponse
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import WireError
from tfsvc.wire.messages import decode, encode
from tfsvc.wire.streams import ALIGNMENT, decode_frames, encode_frames

_ERRORS = st.none() | st.builds(RpcError, st.sampled_from([Code.INTERNAL, Code.INVALID_ARGUMENT]), st.text())
_NUMBERS = st.integers(0, 2**62)
_RESPONSES = st.builds(
    GetFramesResponse,
    st.lists(st.builds(Frame, _NUMBERS, _NUMBERS, st.binary(), _ERRORS), max_size=4).map(tuple),
    st.booleans(),
)


@given(_RESPONSES)
def test_responses_come_back(response: GetFramesResponse) -> None:
    assert decode(GetFramesResponse, encode(response)) == response


@given(_RESPONSES)
def test_protobuf_reads_what_is_written(response: GetFramesResponse) -> None:
    message = pb.GetFramesResponse.FromString(encode(response))
    assert message.end_of_stream == response.end_of_stream
    assert [(f.start, f.count, f.body) for f in message.frames] == [(f.start, f.count, f.body) for f in response.frames]


@given(_RESPONSES)
def test_what_protobuf_writes_is_read(response: GetFramesResponse) -> None:
    plain = pb.GetFramesResponse.FromString(encode(response))
    plain.DiscardUnknownFields()
    assert decode(GetFramesResponse, plain.SerializeToString()) == response


@given(_RESPONSES)
def test_bodies_start_aligned(response: GetFramesResponse) -> None:
    data = encode(response)
    at = 0
    for frame in response.frames:
        at = data.index(bytes(frame.body), at) if frame.body else at
    first = response.frames[0].body if response.frames else b""
    if len(first) > 2 * ALIGNMENT and data.count(bytes(first)) == 1:
        assert data.index(bytes(first)) % ALIGNMENT == 0


@given(_RESPONSES, st.integers(1, 30))
def test_cut_bytes_are_an_error_or_another_response(response: GetFramesResponse, cut: int) -> None:
    with suppress(WireError):
        decode(GetFramesResponse, encode(response)[:-cut])


@given(st.binary(max_size=50))
def test_any_bytes_are_an_error_or_a_response(data: bytes) -> None:
    with suppress(WireError):
        decode(GetFramesResponse, data)


def test_a_length_beyond_the_end_is_an_error() -> None:
    with pytest.raises(WireError, match="beyond the end"):
        decode(GetFramesResponse, b"\x0a\x7f\x00")


def test_bodies_in_shared_memory_are_found_where_the_frames_say() -> None:
    response = GetFramesResponse(
        (Frame(3, 2, b"first", None, 1), Frame(5, 1, b"", RpcError(Code.INTERNAL, "no"))), True
    )
    memory = memoryview(b"..first..")
    data = encode_frames(response, (2, 0))
    assert b"first" not in data
    assert decode_frames(data, lambda place, length: memory[place : place + length]) == response


def test_a_body_in_memory_that_was_not_offered_is_an_error() -> None:
    data = encode_frames(GetFramesResponse((Frame(0, 1, b"body"),)), (0,))
    with pytest.raises(WireError, match="none was offered"):
        decode_frames(data)


def test_a_body_beyond_the_shared_memory_is_an_error() -> None:
    def shared(place: int, length: int) -> memoryview:
        raise ValueError(f"{length} bytes at {place} are not there")

    with pytest.raises(WireError, match="4 bytes at 7 are not there"):
        decode_frames(encode_frames(GetFramesResponse((Frame(0, 1, b"body"),)), (7,)), shared)


class _Vast:
    """Stands for a body that no machine of the tests could hold."""

    def __len__(self) -> int:
        return 1 << 31


def test_a_message_beyond_protobufs_limit_is_refused_by_name() -> None:
    frame = Frame(0, 1, cast(bytes, _Vast()))
    with pytest.raises(ResourceExhaustedError, match="protobuf's limit of 2147483647"):
        encode_frames(GetFramesResponse((frame,)))
