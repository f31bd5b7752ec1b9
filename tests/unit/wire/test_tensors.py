"""Tensors against the bytes that TensorFlow 2.21 writes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tfsvc.errors import InvalidArgumentError, UnimplementedError
from tfsvc.wire import tensors
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import WireError, serialize

CONTENT = [
    (np.array([[1, 2], [3, 4]], np.int32), "080312081202080212020802221001000000020000000300000004000000"),
    (np.array([1.5], ml_dtypes.bfloat16), "080e1204120208012202c03f"),
    (np.array([b"ab", b""], object), "0807120412020802420261624200"),
]
TYPED = [
    (np.array(1 + 2j, np.complex64), "080812004a080000803f00000040"),
    (np.array(7, np.uint32), "0816120082010107"),
]


@pytest.mark.parametrize(("array", "recorded"), CONTENT)
def test_serialized_tensors_are_tensorflows(array: np.ndarray, recorded: str) -> None:
    assert tensors.to_bytes(array).hex() == recorded
    np.testing.assert_array_equal(tensors.from_bytes(bytes.fromhex(recorded)), array)


@pytest.mark.parametrize(("array", "recorded"), TYPED)
def test_typed_tensors_are_tensorflows(array: np.ndarray, recorded: str) -> None:
    assert serialize(tensors.to_proto(array, typed=True)).hex() == recorded
    np.testing.assert_array_equal(tensors.from_bytes(bytes.fromhex(recorded)), array)


def test_half_travels_as_its_bits() -> None:
    proto = tensors.to_proto(np.array([1.5, 2], np.float16), typed=True)
    assert list(proto.half_val) == [0x3E00, 0x4000]


def test_float8_travels_as_bytes() -> None:
    proto = tensors.to_proto(np.array([1, 2], ml_dtypes.float8_e5m2), typed=True)
    assert proto.float8_val == b"\x3c\x40"


def test_strings_in_content_form_are_lengths_then_bytes() -> None:
    proto = tensors.to_proto(np.array([b"ab", b"x" * 200], object))
    assert proto.tensor_content == b"\x02\xc8\x01ab" + b"x" * 200


def test_text_becomes_utf_8() -> None:
    assert tensors.from_proto(tensors.to_proto("é")).item() == "é".encode()


@pytest.mark.parametrize(
    ("values", "expected"), [([], [0, 0, 0]), ([5], [5, 5, 5]), ([5, 6], [5, 6, 6]), ([5, 6, 7], [5, 6, 7])]
)
def test_the_last_value_repeats(values: list[int], expected: list[int]) -> None:
    proto = pb.TensorProto(dtype=pb.DT_INT64, tensor_shape=tensors.shape_proto([3]), int64_val=values)
    assert tensors.from_proto(proto).tolist() == expected


def test_an_unknown_rank_is_a_scalar() -> None:
    proto = pb.TensorProto(dtype=pb.DT_INT64, tensor_shape=pb.TensorShapeProto(unknown_rank=True), int64_val=[3])
    assert tensors.from_proto(proto).shape == ()


def test_arrays_are_read_only_views() -> None:
    array = tensors.from_proto(tensors.to_proto(np.arange(3)))
    assert not array.flags.writeable
    assert not array.flags.owndata


@pytest.mark.parametrize(
    ("proto", "text"),
    [
        (pb.TensorProto(), "not a data type"),
        (pb.TensorProto(dtype=pb.DT_INT32, tensor_shape=tensors.shape_proto([None])), "negative dimension"),
        (pb.TensorProto(dtype=pb.DT_INT32, tensor_content=b"abc"), "takes 4 bytes, not 3"),
        (pb.TensorProto(dtype=pb.DT_INT32, int_val=[1, 2]), "2 values"),
        (pb.TensorProto(dtype=pb.DT_INT32, tensor_shape=tensors.shape_proto([1 << 40]), int_val=[1]), "would become"),
        (pb.TensorProto(dtype=pb.DT_BOOL, tensor_content=b"\x02"), "a bool must be"),
        (pb.TensorProto(dtype=pb.DT_STRING, tensor_content=b"\x05ab"), "make not 3 bytes"),
        (pb.TensorProto(dtype=pb.DT_STRING, tensor_content=b"\xff"), "varint"),
    ],
)
def test_malformed_tensors_are_refused(proto: pb.TensorProto, text: str) -> None:
    with pytest.raises(WireError, match=text):
        tensors.from_proto(proto)


def test_a_type_without_arrays_says_so() -> None:
    with pytest.raises(UnimplementedError, match="DT_RESOURCE"):
        tensors.from_proto(pb.TensorProto(dtype=pb.DT_RESOURCE))


def test_a_type_that_tensorflow_lacks_says_so() -> None:
    with pytest.raises(InvalidArgumentError, match="no TensorFlow data type"):
        tensors.to_proto(np.array("2020-01-01", "M8[D]"))
