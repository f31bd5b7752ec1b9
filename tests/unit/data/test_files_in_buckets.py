"""Every source of files reads from a bucket as from a path, and goes on from a saved state."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

from tests.unit.data.helpers import elements
from tfsvc.data import Dataset, FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from tfsvc.data.experimental import CsvDataset
from tfsvc.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from tfsvc.storage.bucket import Bucket
from tfsvc.storage.records import encode_record

TABLE = pyarrow.table({"x": [1, 2, 3, 4, 5], "y": ["a", "b", "c", "d", "e"]})
ROWS = np.arange(10, dtype=np.float32).reshape(5, 2)


def written(write: Callable[[Any], Any]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


FILES: dict[str, tuple[bytes, Callable[[str], Dataset]]] = {
    "lines.txt": (b"1\n2\n3\n4\n5\n", TextLineDataset),
    "lines.gz": (gzip.compress(b"1\n2\n3\n4\n5\n"), lambda path: TextLineDataset(path, "GZIP")),
    "records": (b"".join(encode_record(b"%d" % i) for i in range(5)), TFRecordDataset),
    "fixed": (b"aabbccddee", lambda path: FixedLengthRecordDataset(path, 2)),
    "rows.csv": (b"1,a\n2,b\n3,c\n4,d\n5,e\n", lambda path: CsvDataset(path, ["int32", "string"])),
    "rows.parquet": (
        written(lambda file: pyarrow.parquet.write_table(TABLE, file, row_group_size=2)),
        Dataset.from_parquet,
    ),
    "rows.arrow": (written(lambda file: pyarrow.feather.write_feather(TABLE, file, chunksize=2)), Dataset.from_arrow),
    "rows.npy": (written(lambda file: np.save(file, ROWS)), Dataset.from_npy),
    "rows.npz": (written(lambda file: np.savez(file, a=ROWS)), Dataset.from_npz),
    "small.npz": (written(lambda file: np.savez_compressed(file, a=ROWS)), Dataset.from_npz),
}


@pytest.fixture(params=["memory", "file"])
def bucket(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a bucket that has the files."""
    url = "memory://sources" if request.param == "memory" else f"file://{tmp_path}"
    for name, (body, _) in FILES.items():
        if request.param == "memory":
            Bucket(url).put(f"deep/{name}", body)
        else:
            (tmp_path / "deep").mkdir(exist_ok=True)
            (tmp_path / "deep" / name).write_bytes(body)
    return url


@pytest.mark.parametrize("name", FILES)
def test_as_from_a_path(name: str, bucket: str, tmp_path: Path) -> None:
    body, make = FILES[name]
    (tmp_path / name).write_bytes(body)
    expected = elements(make(str(tmp_path / name)))
    assert len(expected) == 5
    there = make(f"{bucket}/deep/{name}")
    assert elements(there) == expected
    for cut in range(6):
        iterator = iter(there)
        before = [next(iterator) for _ in range(cut)]
        again = iter(there)
        again.load_state_dict(iterator.state_dict())
        assert len(before) + len(list(again)) == 5


def test_what_is_not_there(bucket: str) -> None:
    for _, make in FILES.values():
        with pytest.raises((NotFoundError, DataLossError), match="missing"):
            list(make(f"{bucket}/deep/missing"))


def test_files_are_listed(bucket: str) -> None:
    found = Dataset.list_files(f"{bucket}/deep/*.npz", shuffle=False)
    assert elements(found) == [f"{bucket}/deep/rows.npz".encode(), f"{bucket}/deep/small.npz".encode()]
    assert elements(Dataset.list_files(f"{bucket}/d*p/rows.csv")) == [f"{bucket}/deep/rows.csv".encode()]
    for nothing in ("deep/*.zip", "nowhere/*", "deep/lines", "deep/"):
        with pytest.raises(InvalidArgumentError, match="No files matched"):
            Dataset.list_files(f"{bucket}/{nothing}")


def test_columns_of_an_array_that_cannot_be_mapped() -> None:
    Bucket("memory://sources").put("columns.npy", written(lambda file: np.save(file, np.asfortranarray(ROWS))))
    with pytest.raises(UnimplementedError, match="lies there column by column"):
        Dataset.from_npy("memory://sources/columns.npy")
