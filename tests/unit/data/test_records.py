"""TFRecord files and files of equal pieces."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data import Dataset, FixedLengthRecordDataset, TFRecordDataset
from tfsvc.data.experimental import TFRecordWriter
from tfsvc.data.ops.tfrecord import TFRecords
from tfsvc.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from tfsvc.storage.records import encode_record, masked_crc32c

WRITERS: list[tuple[str, Callable[[bytes], bytes]]] = [("", bytes), ("GZIP", gzip.compress), ("ZLIB", zlib.compress)]
RECORDS = [b"one", b"", b"three" * 1000]


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "records"
    path.write_bytes(b"".join(map(encode_record, RECORDS)))
    return path


def test_checksums_are_those_of_the_format() -> None:
    # CRC-32C of "123456789" is 0xE3069283.
    assert masked_crc32c(b"123456789") == 0xC78AB0E5
    assert encode_record(b"").hex() == "000000000000000029039807d8ea82a2"


@pytest.mark.parametrize(("kind", "write"), WRITERS)
def test_records_come_back(records: Path, kind: str, write: Callable[[bytes], bytes]) -> None:
    records.write_bytes(write(records.read_bytes()))
    assert elements(TFRecordDataset(str(records), kind)) == RECORDS
    assert elements(TFRecordDataset([str(records)] * 2, kind, num_parallel_reads=2)) == [
        record for record in RECORDS for _ in range(2)
    ]


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_what_is_written_can_be_read(tmp_path: Path, kind: str) -> None:
    name = str(tmp_path / "written")
    TFRecordWriter(name, kind).write(Dataset.from_tensor_slices(RECORDS))
    assert elements(TFRecordDataset(name, kind)) == RECORDS


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="compression_type"):
        TFRecordWriter(tmp_path / "a", "X")
    with pytest.raises(TypeError, match="scalar strings"):
        TFRecordWriter(tmp_path / "a").write(Dataset.range(3))
    with pytest.raises(TypeError, match="Expected a"):
        TFRecordWriter(tmp_path / "a").write(RECORDS)  # type: ignore[arg-type]


@pytest.mark.parametrize("at", [0, 9, 12, 15])
def test_damage_is_found_and_ends_the_file(records: Path, at: int, tmp_path: Path) -> None:
    damaged = bytearray(records.read_bytes())
    damaged[at] ^= 1
    bad = tmp_path / "bad"
    bad.write_bytes(damaged)
    dataset = TFRecordDataset([str(bad), str(records)])
    with pytest.raises(DataLossError, match="corrupted record"):
        list(dataset)
    assert elements(dataset.ignore_errors()) == RECORDS


@pytest.mark.parametrize("size", [3, 13])
def test_a_torn_record_is_damage(records: Path, size: int) -> None:
    records.write_bytes(records.read_bytes()[:size])
    with pytest.raises(DataLossError, match="truncated record"):
        list(TFRecordDataset(str(records)))


def test_a_missing_file_is_passed_over_when_errors_are(records: Path) -> None:
    dataset = TFRecordDataset(["/no/such/file", str(records)])
    with pytest.raises(NotFoundError):
        list(dataset)
    assert elements(dataset.ignore_errors()) == RECORDS


def test_a_reader_goes_on_where_it_stood(records: Path) -> None:
    dataset = TFRecordDataset(Dataset.from_tensors(str(records)))
    iterator = start(dataset)
    iterator.next()
    restored = start(dataset)
    restored.load(iterator.save())
    assert drain(restored) == drain(iterator) == RECORDS[1:]


@pytest.mark.parametrize(("kind", "write"), WRITERS)
def test_pieces_lie_between_header_and_footer(tmp_path: Path, kind: str, write: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "pieces"
    path.write_bytes(write(b"HHaabbccF"))
    assert elements(FixedLengthRecordDataset(str(path), 2, 2, 1, compression_type=kind)) == [b"aa", b"bb", b"cc"]
    # The size of a compressed file shows at its end only.
    error = DataLossError if kind else InvalidArgumentError
    dataset = FixedLengthRecordDataset(str(path), 4, 2, 1, compression_type=kind)
    with pytest.raises(error, match="records of 4 bytes and a footer of 1 bytes"):
        list(dataset)
    assert drain(start(dataset)) == ([b"aabb", error.__name__] if kind else [error.__name__])
    for size in (2, 20):
        with pytest.raises(error, match="header of"):
            list(FixedLengthRecordDataset(str(path), 1, 9, size, compression_type=kind))


def test_pieces_that_make_no_sense(tmp_path: Path) -> None:
    path = tmp_path / "pieces"
    path.write_bytes(b"")
    assert elements(FixedLengthRecordDataset(str(path), 2)) == []
    with pytest.raises(InvalidArgumentError, match="record_bytes"):
        list(FixedLengthRecordDataset(str(path), 0))
    with pytest.raises(InvalidArgumentError, match="header_bytes"):
        list(FixedLengthRecordDataset(str(path), 1, -1))


def test_files_may_be_paths_but_not_numbers(records: Path) -> None:
    assert elements(TFRecordDataset(records)) == elements(TFRecordDataset([records])) == RECORDS
    with pytest.raises(TypeError, match="must contain"):
        TFRecordDataset([1])


def test_a_split_is_a_file() -> None:
    dataset = TFRecordDataset(["a", "b"])
    assert [plan.count for plan in dataset.operator.plans()] == [2]
    with pytest.raises(UnimplementedError, match="a split is a file"):
        TFRecords("a").plans()
