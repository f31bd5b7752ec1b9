"""Files read by workers, and what they keep."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import tfsvc as tf
from tests.e2e.conftest import Service

Dataset = tf.data.Dataset
COUNT = 1000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    numbers = np.arange(COUNT)
    pa.parquet.write_table(pa.table({"n": numbers}), folder / "rows.parquet", row_group_size=64)
    (folder / "rows.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(COUNT)))
    np.savez_compressed(folder / "rows.npz", n=numbers)
    Dataset.range(COUNT).save(folder / "rows", "SNAPPY", lambda n: n % 7)
    return folder


def test_rows_of_every_source_come_exactly_once(two_workers: Service, folder: Path) -> None:
    for dataset in (
        Dataset.from_parquet(folder / "rows.parquet").map(lambda row: row["n"]).batch(10),
        Dataset.from_arrow(pa.table({"n": range(COUNT)})).batch(10).map(lambda row: row["n"]),
        tf.data.experimental.CsvDataset(str(folder / "rows.csv"), [tf.int64], header=True).map(lambda n: n).batch(9),
        Dataset.from_npz(folder / "rows.npz").batch(32).map(lambda row: row["n"]),
        Dataset.load(folder / "rows", compression="SNAPPY").batch(10),
    ):
        assert sorted(np.concatenate(list(two_workers.read(dataset)))) == list(range(COUNT))


def test_every_worker_gives_a_whole_snapshot_and_none_can_split_it(two_workers: Service, tmp_path: Path) -> None:
    dataset = Dataset.range(20).snapshot(tmp_path)
    for _ in range(2):
        assert sorted(two_workers.read(dataset, "parallel_epochs")) == sorted([*range(20)] * 2)
    with pytest.raises(tf.errors.UnimplementedError, match="snapshot"):
        list(two_workers.read(dataset))
