"""Chunks of elements, and the forms of their components."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tfsvc.errors import DataLossError, InvalidArgumentError
from tfsvc.specs import TensorSpec, spec_of
from tfsvc.storage.chunks import ChunkWriter, decode_column, decode_component, encode_component, read_element
from tfsvc.storage.compression import open_reader
from tfsvc.storage.folders import PathFile
from tfsvc.wire.errors import WireError, serialize
from tfsvc.wire.tensors import to_proto

VALUES = [
    np.int64(7),
    np.bool_(True),
    np.float32(1.5),
    b"",
    b"abc",
    b"x" * 126,
    b"x" * 127,
    b"x" * 40_000,
    np.arange(6, dtype=np.int16).reshape(2, 3),
    np.arange(3, dtype=">f8"),
    np.ones(2, ml_dtypes.bfloat16),
    np.zeros((0, 3)),
    np.array([b"a", b""], object),
    np.empty(0, object),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: f"{np.asarray(v).dtype}{np.shape(v)}")
def test_a_component_is_a_tensor_in_content_form(value: Any) -> None:
    record = encode_component(value)
    assert record == serialize(to_proto(value))
    found = decode_component(record)
    assert np.array_equal(found, value)
    assert isinstance(found, bytes) == isinstance(value, bytes)


@pytest.mark.parametrize("value", VALUES, ids=lambda v: f"{np.asarray(v).dtype}{np.shape(v)}")
def test_a_column_is_its_components(value: Any) -> None:
    column = decode_column([encode_component(value)] * 3, spec_of(value))
    if spec_of(value).dtype == "string" and spec_of(value).shape != ():
        assert column is None
    else:
        assert column is not None
        assert column.shape == (3, *np.shape(value))
        assert column.tolist() == [value.tolist() if hasattr(value, "tolist") else value] * 3


def test_what_varies_is_no_column() -> None:
    number, vector = encode_component(np.int64(1)), encode_component(np.arange(2))
    assert decode_column([number, vector], TensorSpec((), "int64")) is None
    assert decode_column([vector], TensorSpec((None,), "int64")) is None
    assert decode_column([vector], TensorSpec(None, "int64")) is None
    assert decode_column([number], TensorSpec((), "string")) is None
    assert decode_column([serialize(to_proto(np.int64(1), typed=True))], TensorSpec((), "int64")) is None
    with pytest.raises(WireError):
        decode_column([b"\xff"], TensorSpec((), "string"))


def test_a_chunk_holds_whole_elements(tmp_path: Path) -> None:
    path = tmp_path / "chunk"
    writer = ChunkWriter(PathFile(path), "ZLIB")
    for n in range(2):
        writer.write([np.int64(n), b"x" * n])
    writer.close()
    with open_reader(str(path), "ZLIB") as file:
        found = [read_element(file, "chunk", 2) for _ in range(3)]
    assert found[2] is None
    assert [list(map(decode_component, element[1])) for element in found[:2] if element] == [[0, b""], [1, b"x"]]
    with open_reader(str(path), "ZLIB") as file:
        sizes = [element[0] for element in found if element]
        assert file.seek(sum(sizes)) == sum(sizes)
        assert file.read(1) == b""
    with open_reader(str(path), "ZLIB") as file:
        read_element(file, "chunk", 3)
        with pytest.raises(DataLossError, match="1 of the 3 components"):
            read_element(file, "chunk", 3)
    other = PathFile(path)
    with pytest.raises(InvalidArgumentError, match="X"):
        ChunkWriter(other, "X")
    other.abandon()


def test_a_chunk_that_cannot_be_begun_lets_go_of_its_file(tmp_path: Path) -> None:
    file = PathFile(tmp_path / "chunk")
    with pytest.raises(InvalidArgumentError, match="compression_type"):
        ChunkWriter(file, "ARITHMETIC")
    assert file._file.closed
