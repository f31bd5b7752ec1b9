"""Columnar frames: what they hold, where it lies, and what is refused."""

from __future__ import annotations

import struct
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest

from tfsvc.columns import Columns
from tfsvc.errors import InvalidArgumentError
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import WireError, serialize
from tfsvc.wire.frames import ALIGNMENT, columns_of, decode_frame, encode_frame
from tfsvc.wire.structures import DEPTH_MAX, encode_structure

Point = namedtuple("Point", "x y")


def through(*elements: Any) -> list[Any]:
    return list(decode_frame(encode_frame(columns_of(elements))).elements())


def test_scalars_become_one_column() -> None:
    columns = columns_of([np.int64(1), np.int64(2)])
    assert columns.structure == 0
    np.testing.assert_array_equal(columns.leaves[0], [1, 2])
    assert through(np.int64(1), np.int64(2)) == [1, 2]


def test_structures_come_back() -> None:
    element = {"b": (np.float32(1), [b"x"]), "a": Point(np.int8(2), b"")}
    first, second = through(element, element)
    assert list(first) == ["b", "a"]
    assert first == second == element
    assert type(first["a"]).__name__ == "Point"
    assert first["a"].y == b""


def test_dictionaries_may_differ_in_order_only() -> None:
    elements = [{"a": b"1", "b": b"2"}, {"b": b"4", "a": b"3"}]
    assert through(*elements) == elements
    with pytest.raises(InvalidArgumentError, match="differ in structure"):
        columns_of([{"a": b"1"}, {"b": b"2"}])


def test_an_ordered_dict_keeps_its_order() -> None:
    assert list(through(OrderedDict(z=b"1", a=b"2"))[0]) == ["z", "a"]


def test_differing_shapes_are_kept_apart() -> None:
    columns = columns_of([np.zeros(2), np.zeros(3)])
    assert isinstance(columns.leaves[0], tuple)
    assert [array.shape for array in through(np.zeros(2), np.zeros(3))] == [(2,), (3,)]


def test_ragged_strings_and_none() -> None:
    rows = through((np.array([b"a", b""], object), None), (np.array([b"b"], object), None))
    assert [(row[0].tolist(), row[1]) for row in rows] == [([b"a", b""], None), ([b"b"], None)]


def test_elements_without_components() -> None:
    columns = decode_frame(encode_frame(columns_of([(), ()])))
    assert (columns.count, columns.leaves) == (2, ())


def test_columns_are_aligned_read_only_views() -> None:
    frame = encode_frame(columns_of([(np.int8(1), np.arange(3.0))] * 5))
    memory = np.zeros(len(frame) + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    memory[start : start + len(frame)] = np.frombuffer(frame, np.uint8)
    columns = decode_frame(memory[start : start + len(frame)].data)
    for leaf in columns.leaves:
        assert isinstance(leaf, np.ndarray)
        assert leaf.ctypes.data % ALIGNMENT == 0
        assert not leaf.flags.writeable
        assert not leaf.flags.owndata


def test_one_element_is_not_copied() -> None:
    array = np.zeros(1000)
    leaf = columns_of([array]).leaves[0]
    assert np.shares_memory(leaf, array)


def test_the_bytes_are_fixed() -> None:
    frame = encode_frame(columns_of([np.int64(1), np.int64(2)]))
    assert frame[:64].hex() == "54465346" + "0d000000" + "08021a09" + "120109" + "1a0101" + "220102" + "00" * 43
    assert frame[64:] == struct.pack("<qq48x", 1, 2)


def test_mixed_structures_are_refused() -> None:
    for elements in ([b"", (b"",)], [(b"",), (b"", b"")], [(b"",), [b""]], []):
        with pytest.raises(InvalidArgumentError):
            columns_of(elements)


def test_what_cannot_travel_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="must be text"):
        encode_frame(columns_of([{1: b""}]))
    with pytest.raises(InvalidArgumentError, match="must hold bytes or str"):
        columns_of([np.array([object()], object)])
    deep: Any = b""
    for _ in range(DEPTH_MAX + 1):
        deep = (deep,)
    with pytest.raises(InvalidArgumentError, match="deeper"):
        encode_frame(columns_of([deep]))


def frame_of(body: bytes = b"", **fields: Any) -> bytes:
    values: dict[str, Any] = {"count": 1, "structure": encode_structure(0)} | fields
    head = serialize(pb.FrameDef(**values))
    start = struct.pack("<4sI", b"TFSF", len(head)) + head
    return start + bytes(-len(start) % ALIGNMENT) + body


def column(dtype: int, *dims: int, ragged: bool = False) -> pb.ColumnDef:
    return pb.ColumnDef(ragged=ragged, dtypes=[dtype], ranks=[len(dims)], dims=dims)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "buffer"),
        (b"XXXX\0\0\0\0", "starts with"),
        (b"TFSF\xff\xff\xff\xff", "its head has"),
        (frame_of(count=0), "holds 0"),
        (frame_of(count=1 << 40), "holds 1099511627776"),
        (frame_of(), "0 columns"),
        (frame_of(columns=[column(pb.DT_INT8, 1)]), "starts at byte"),
        (frame_of(columns=[column(pb.DT_INT64, 1 << 60, 1 << 60)]), "starts at byte"),
        (frame_of(columns=[column(pb.DT_INT64, -1)]), "negative"),
        (frame_of(columns=[column(pb.DT_INT64, 0)]), "dimensions"),
        (frame_of(columns=[column(0)]), "dimensions"),
        (frame_of(columns=[column(99, 1)]), "not a data type"),
        (frame_of(columns=[pb.ColumnDef(dtypes=[3], ranks=[2], dims=[1])]), "contradicts"),
        (frame_of(bytes(64) * 2, columns=[column(pb.DT_INT8, 1)]), "ends after"),
        (frame_of(b"\xff" * 64, columns=[column(pb.DT_STRING, 1)]), "longer than"),
        (frame_of(bytes(64), columns=[column(pb.DT_STRING, 1 << 50)], count=1), "starts at byte"),
        (frame_of(structure=b"\x08\x63"), "kind 99"),
        (
            frame_of(structure=serialize(pb.StructureDef(kind=pb.StructureDef.NAMED_TUPLE, name="class"))),
            "identifier|keyword",
        ),
    ],
)
def test_malformed_frames_are_refused(data: bytes, text: str) -> None:
    with pytest.raises(WireError, match=text):
        decode_frame(data)


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "bool", "complex128"])
def test_large_arrays_are_one_column_though_nobody_stacked_them(dtype: str) -> None:
    rows = [np.full((3, 128, 64), i % 2, dtype)[:, ::-1] for i in range(5)]
    columns = columns_of(rows)
    assert isinstance(columns.leaves[0], tuple)
    (leaf,) = decode_frame(encode_frame(columns)).leaves
    assert isinstance(leaf, np.ndarray)
    np.testing.assert_array_equal(leaf, np.stack(rows))
    stacked = Columns(columns.structure, (np.stack(rows),), columns.count)
    assert encode_frame(columns) == encode_frame(stacked)


def test_large_arrays_that_differ_stay_apart() -> None:
    rows = [np.zeros(1 << 12, np.float32), np.ones(1 << 13, np.float32)]
    (leaf,) = decode_frame(encode_frame(columns_of(rows))).leaves
    assert [row.tolist() for row in leaf] == [row.tolist() for row in rows]
