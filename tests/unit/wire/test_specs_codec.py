"""Element specs against the bytes of TensorFlow's nested_structure_coder."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest

from tfsvc.errors import InvalidArgumentError, UnimplementedError
from tfsvc.specs import TensorSpec
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import WireError
from tfsvc.wire.specs_codec import NoneTensorSpec, OpaqueSpec, decode_spec, encode_spec, spec_from_value

Point = namedtuple("Point", "x y")

RECORDED = [
    (TensorSpec((), "int64"), "8a020412001809"),
    (TensorSpec(None, "string", "a"), "8a02090a0161120218011807"),
    (
        {"b": TensorSpec((None, 3)), "a": (TensorSpec((), "bool"), [TensorSpec((2,), "bfloat16")])},
        "aa03440a230a0161121ea2031b0a078a02041200180a0a109a030d0a0b8a0208120412020802180e"
        "0a1d0a016212188a02151211120b08ffffffffffffffffff01120208031801",
    ),
    (
        Point(TensorSpec((), "int32"), TensorSpec((), "int8")),
        "b203230a05506f696e74120c0a017812078a020412001803120c0a017912078a020412001806",
    ),
    ((), "a20300"),
    ([], "9a0300"),
    ({}, "aa0300"),
    (None, "0a00"),
    ((NoneTensorSpec(),), "a2031f0a1d92021a080c1203a203001a1174662e4e6f6e6554656e736f7253706563"),
]
SPARSE = bytes.fromhex(
    "92022d08011215a203120a0bfa010812020802120208030a038002011a1053706172736554656e736f72537065632003"
)


@pytest.mark.parametrize(("spec", "recorded"), RECORDED)
def test_specs_are_tensorflows(spec: Any, recorded: str) -> None:
    assert encode_spec(spec).hex() == recorded
    assert decode_spec(bytes.fromhex(recorded)) == spec


def test_named_tuples_come_back_with_name_and_fields() -> None:
    spec = decode_spec(encode_spec(Point(TensorSpec(()), TensorSpec(()))))
    assert type(spec).__name__ == "Point"
    assert spec._fields == ("x", "y")


def test_other_type_specs_pass_through() -> None:
    spec = decode_spec(SPARSE)
    assert isinstance(spec, OpaqueSpec)
    assert spec.name == "SparseTensorSpec"
    assert encode_spec(spec) == SPARSE


def test_dictionaries_come_back_sorted() -> None:
    assert list(decode_spec(encode_spec({"b": None, "a": None}))) == ["a", "b"]


@pytest.mark.parametrize("data", [b"", b"\xff", bytes.fromhex("8a020412001800")])
def test_malformed_specs_are_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        decode_spec(data)


def test_a_number_is_no_spec() -> None:
    with pytest.raises(UnimplementedError, match="int64_value"):
        spec_from_value(pb.StructuredValue(int64_value=3))
    with pytest.raises(InvalidArgumentError, match="int"):
        encode_spec((3,))
    with pytest.raises(InvalidArgumentError, match="must be text"):
        encode_spec({3: TensorSpec(())})
