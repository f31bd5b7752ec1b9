"""Datasets of files of every kind, small, whose elements are whole numbers."""

from __future__ import annotations

import functools
import gzip
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from tfsvc.data import Dataset, FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from tfsvc.data.experimental import CsvDataset, TFRecordWriter
from tfsvc.data.functions import Vectorized

NUMBERS = np.arange(5, dtype=np.int64)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def _number(text: bytes) -> Any:
    return np.int64(text or b"0")


def _named(row: Any) -> Any:
    return row["n"]


def _first(number: Any) -> Any:
    return number


@functools.cache
def datasets_of_files() -> tuple[Dataset, ...]:
    """Readers of each kind of file, and of several files at once."""
    folder = Path(_folder().name)
    texts = [str(folder / name) for name in ("a.txt", "b.txt", "c.txt")]
    for name, lines in zip(texts, (b"0\n1\n2", b"", b"3\n4\n"), strict=True):
        Path(name).write_bytes(lines)
    (folder / "a.gz").write_bytes(gzip.compress(b"0\n1\n2\n3"))
    (folder / "a.zlib").write_bytes(zlib.compress(b"HH0123F"))
    TFRecordWriter(folder / "a.snappy", "SNAPPY").write(Dataset.from_tensor_slices(["0", "1", "2"]))
    (folder / "a.csv").write_bytes(b'n,s\n0,"a\n"\n1,\r\n2,b\r3,\n')
    table = pa.table({"n": NUMBERS})
    pa.parquet.write_table(table, folder / "a.parquet", row_group_size=2)
    with pa.ipc.new_file(str(folder / "a.arrow"), table.schema) as file:
        file.write_table(table, 3)
    np.savez(folder / "a.npz", n=NUMBERS)
    np.savez_compressed(folder / "b.npz", n=NUMBERS)
    Dataset.range(5).save(folder / "saved", "SNAPPY", lambda n: n % 2)
    return (
        TextLineDataset(texts).map(_number),
        TextLineDataset(texts, num_parallel_reads=2).map(_number),
        TextLineDataset(folder / "a.gz", "GZIP").map(_number),
        TFRecordDataset([folder / "a.snappy"] * 2, "SNAPPY").map(_number),
        FixedLengthRecordDataset(folder / "a.zlib", 1, 2, 1, compression_type="ZLIB").map(_number),
        CsvDataset([str(folder / "a.csv")] * 2, ["int64", [""]], header=True).map(lambda n, _: n),
        Dataset.from_parquet(folder / "a.parquet").map(_named),
        Dataset.from_arrow(folder / "a.arrow").map(Vectorized(_named)),
        Dataset.from_arrow(table).map(_named),
        Dataset.from_npz(folder / "a.npz").map(_named),
        Dataset.from_npz(folder / "b.npz").map(_named),
        Dataset.load(folder / "saved", compression="SNAPPY"),
        Dataset.load(folder / "saved", compression="SNAPPY", reader_func=lambda shards: shards.flat_map(_first)),
        Dataset.from_iterable(range(4)).map(np.int64),
    )
