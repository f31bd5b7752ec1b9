"""Calls on the wire: protobuf's bytes, whether its library writes them or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfsvc.protocol.messages import CallRequest, CallResponse, FetchItemsResponse, Refusal
from tfsvc.specs import as_dtype
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import WireError
from tfsvc.wire.messages import METHODS, decode, encode
from tfsvc.wire.tensors import from_bytes, to_bytes, to_proto

tensors = st.lists(st.binary(max_size=50) | st.integers(0, 9000).map(bytes), max_size=4).map(tuple)
requests = st.builds(
    CallRequest, st.text(), tensors, st.integers(0, 2**63 - 1), st.integers(0, 99), st.integers(0, 9), st.integers(0, 9)
)


@given(requests)
def test_a_request_comes_back(request: CallRequest) -> None:
    data = encode(request)
    assert decode(CallRequest, data) == request
    assert tuple(pb.CallRequest.FromString(data).input_tensors) == request.input_tensors


@given(st.builds(CallResponse, tensors, st.binary(), st.sampled_from(Refusal)))
def test_a_response_comes_back(response: CallResponse) -> None:
    assert decode(CallResponse, encode(response)) == response
    fetched = FetchItemsResponse((response, response), ended=True)
    assert decode(FetchItemsResponse, encode(fetched)) == fetched


def test_the_bytes_are_tensorflows():
    two = to_bytes(np.int32(2))
    assert encode(CallRequest("f", (two,))).hex() == "0a0166120a080312002204" + "02000000"
    assert METHODS[CallRequest].path == "/tensorflow.rpc.RpcService/Call"


@pytest.mark.parametrize("size", [1, 5000])
def test_bytes_that_are_no_call(size: int) -> None:
    with pytest.raises(WireError):
        decode(CallRequest, b"\xff" * size)
    with pytest.raises(WireError):
        decode(CallRequest, encode(CallRequest("f", (bytes(size),)))[:-1])


@pytest.mark.parametrize("shape", [(), (3,), (100, 50), (0, 7)])
@pytest.mark.parametrize("name", ["float32", "int64", "bool", "bfloat16", "complex128"])
def test_tensors_come_back_in_every_form(name: str, shape: tuple[int, ...]) -> None:
    array = (np.arange(np.prod(shape, dtype=int)) % 2).astype(as_dtype(name).numpy).reshape(shape)
    for data in (to_bytes(array), to_proto(array, typed=True).SerializeToString()):
        found = from_bytes(data)
        assert found.dtype == array.dtype
        assert found.flags.aligned
        np.testing.assert_array_equal(found, array)
    assert to_bytes(array) == to_proto(array).SerializeToString(deterministic=True)


def test_large_tensors_are_checked() -> None:
    data = to_bytes(np.zeros(2000))
    with pytest.raises(WireError):
        from_bytes(data[:-8])
    with pytest.raises(WireError):
        from_bytes(data + b"\x22\x03abc")
    text = np.array([b"x" * 3000, b"", b"y" * 3000], object)
    np.testing.assert_array_equal(from_bytes(to_bytes(text)), text)
    content = to_proto(text).SerializeToString()
    np.testing.assert_array_equal(from_bytes(content), text)
