"""Byte streams of files, whatever their compression."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfsvc.errors import DataLossError, InvalidArgumentError, NotFoundError
from tfsvc.storage.compression import COMPRESSIONS, SNAPPY_BLOCK_BYTES, Compressor, open_reader

RANDOM = np.random.default_rng(1).integers(0, 256, 300_000, np.uint8).tobytes()
DATA = b"".join([RANDOM, bytes(500_000), b"the end\n"])


def written(path: Path, compression: str, data: bytes = DATA, piece: int = 70_000) -> str:
    with path.open("wb") as file:
        compressor = Compressor(file, compression)
        for at in range(0, len(data), piece):
            compressor.write(data[at : at + piece])
        compressor.finish()
    return str(path)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("data", [b"", b"x", DATA], ids=["nothing", "a byte", "much"])
def test_what_is_written_comes_back(tmp_path: Path, compression: str, data: bytes) -> None:
    with open_reader(written(tmp_path / "f", compression, data), compression) as file:
        assert file.read() == data
        assert file.read(1) == b""


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_stream_can_be_read_from_anywhere(tmp_path: Path, compression: str) -> None:
    with open_reader(written(tmp_path / "f", compression), compression) as file:
        for offset in (0, 1, SNAPPY_BLOCK_BYTES, 299_999, 799_000, 5, len(DATA), 262_144, 262_145):
            assert file.seek(offset) == offset
            assert file.read(100) == DATA[offset : offset + 100]
            assert file.tell() == min(offset + 100, len(DATA))
        assert file.seek(len(DATA) + 9) == len(DATA) + (9 if compression == "" else 0)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_large_file_takes_little_memory(tmp_path: Path, compression: str) -> None:
    name = written(tmp_path / "f", compression, bytes(1 << 20) * 30, 1 << 20)
    tracemalloc.start()
    with open_reader(name, compression) as file:
        while file.read(1 << 16):
            pass
        file.seek(1 << 24)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


@pytest.mark.parametrize("compression", COMPRESSIONS[1:])
@pytest.mark.parametrize("lost", [1, 4, 100])
def test_a_file_that_is_cut_off_says_so(tmp_path: Path, compression: str, lost: int) -> None:
    name = written(tmp_path / "f", compression)
    Path(name).write_bytes(Path(name).read_bytes()[:-lost])
    with open_reader(name, compression) as file, pytest.raises(DataLossError, match=f"not a whole {compression} file"):
        file.read()


@pytest.mark.parametrize("compression", COMPRESSIONS[1:])
@pytest.mark.parametrize("data", [b"\xff" * 40, b"\0\0\0\4\xff\xff\xff\xff", b"\0\0"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, compression: str, data: bytes) -> None:
    (tmp_path / "f").write_bytes(data)
    with open_reader(str(tmp_path / "f"), compression) as file, pytest.raises(DataLossError):
        file.read()


def test_gzip_files_may_have_several_parts(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\n") + bytes(100_000))
    with open_reader(str(tmp_path / "f"), "GZIP") as file:
        assert file.readlines() == [b"a\n", b"b\n"]


def test_the_streams_are_those_of_the_formats(tmp_path: Path) -> None:
    assert gzip.decompress(Path(written(tmp_path / "g", "GZIP")).read_bytes()) == DATA
    assert zlib.decompress(Path(written(tmp_path / "z", "ZLIB")).read_bytes()) == DATA
    # A literal of three bytes: its length, a tag, and itself, behind the length of all that.
    assert Path(written(tmp_path / "s", "SNAPPY", b"abc")).read_bytes() == b"\0\0\0\5\3\x08abc"


@pytest.mark.parametrize("make", [lambda: open_reader("/dev/null", "X"), lambda: Compressor(io.BytesIO(), "X")])
def test_compressions_that_there_are_not(make: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="Unsupported compression_type: X"):
        make()


def test_files_that_there_are_not() -> None:
    with pytest.raises(NotFoundError):
        open_reader("/no/such/file", "GZIP")
