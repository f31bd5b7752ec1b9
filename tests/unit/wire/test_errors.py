"""One error for all malformed bytes."""

from __future__ import annotations

import pickle

import pytest

from tfsvc.errors import Code, DataLossError, UnimplementedError, from_exception
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import WireError, decodes, parse


@decodes("a number")
def decode(text: str) -> int:
    if text == "later":
        raise UnimplementedError(None, None, "not yet")
    return int(text)


def test_what_goes_wrong_in_a_decoder_is_told() -> None:
    with pytest.raises(WireError, match=r"cannot decode a number: invalid literal .* Check that") as error:
        decode("x")
    assert isinstance(error.value, DataLossError)
    assert from_exception(error.value).code is Code.DATA_LOSS


def test_an_error_that_the_decoder_chose_passes() -> None:
    with pytest.raises(UnimplementedError, match="not yet"):
        decode("later")


def test_a_damaged_message_is_named() -> None:
    with pytest.raises(WireError, match="a TensorProto"):
        parse(pb.TensorProto, b"\xff")


def test_the_error_crosses_processes() -> None:
    error = pickle.loads(pickle.dumps(WireError("a frame", ValueError("why"))))
    assert error.message == WireError("a frame", "why").message
