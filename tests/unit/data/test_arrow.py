"""Parquet files, Arrow files and tables in memory."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data import Dataset
from tfsvc.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    UnimplementedError,
)
from tfsvc.specs import TensorSpec

TABLE = pa.table({"x": range(7), "s": [str(n) * n for n in range(7)], "f": [n / 2 for n in range(7)]})
ROWS = [{"x": n, "s": (str(n) * n).encode(), "f": n / 2} for n in range(7)]


@pytest.fixture
def parquet(tmp_path: Path) -> list[str]:
    names = [str(tmp_path / name) for name in ("a.parquet", "b.parquet")]
    pa.parquet.write_table(TABLE.slice(0, 5), names[0], row_group_size=2)
    pa.parquet.write_table(TABLE.slice(5), names[1])
    return names


@pytest.fixture
def feather(tmp_path: Path) -> str:
    name = str(tmp_path / "rows.feather")
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_file(name, TABLE.schema, options=options) as file:
        file.write_table(TABLE, 3)
    return name


def test_rows_of_parquet_files(parquet: list[str]) -> None:
    dataset = Dataset.from_parquet(parquet)
    assert elements(dataset) == ROWS
    assert len(dataset) == 7
    assert dataset.element_spec == {
        "x": TensorSpec((), "int64"),
        "s": TensorSpec((), "string"),
        "f": TensorSpec((), "float64"),
    }
    assert [plan.count for plan in dataset.operator.plans()] == [4]
    assert elements(Dataset.from_parquet(Path(parquet[1]), ["f", "x"])) == [
        {"f": 2.5, "x": 5},
        {"f": 3.0, "x": 6},
    ]


def test_rows_of_tables_and_arrow_files(feather: str) -> None:
    for dataset, splits in (
        (Dataset.from_arrow(TABLE), 1),
        (Dataset.from_arrow(pa.concat_tables([TABLE.slice(0, 2), TABLE.slice(2)])), 1),
        (Dataset.from_arrow(pa.concat_tables([TABLE] * 10_000)).take(7), 2),
        (Dataset.from_arrow(TABLE.to_batches()[0]), 1),
        (Dataset.from_arrow(feather), 3),
    ):
        assert elements(dataset) == ROWS
        assert [plan.count for plan in dataset.operator.plans()] == [splits]
    assert elements(Dataset.from_arrow(feather, ["f"]).take(2)) == [{"f": 0.0}, {"f": 0.5}]
    assert len(Dataset.from_arrow(feather)) == 7


def test_columns_are_handed_on_whole(parquet: list[str]) -> None:
    block = start(Dataset.from_parquet(parquet[1])).block(10)
    assert block is not None
    assert block.count == 2
    batches = Dataset.from_arrow(TABLE, ["x"]).batch(4)
    assert elements(batches) == [{"x": [0, 1, 2, 3]}, {"x": [4, 5, 6]}]
    block = start(batches).block(1)
    assert block is not None
    assert np.shares_memory(block.leaves[0], TABLE["x"].chunk(0).to_numpy())


@pytest.mark.parametrize("taken", range(8))
def test_a_reader_goes_on_where_it_stood(parquet: list[str], feather: str, taken: int) -> None:
    for dataset in (Dataset.from_parquet(parquet), Dataset.from_arrow(feather), Dataset.from_arrow(TABLE)):
        iterator, restored = start(dataset), start(dataset)
        for _ in range(taken):
            iterator.next()
        restored.load(iterator.save())
        assert drain(restored) == drain(iterator) == ROWS[taken:]


KINDS: list[tuple[Any, Any, Any]] = [
    (pa.array([True, False]), TensorSpec((), "bool"), [True, False]),
    (pa.array([1, 2], pa.uint8()), TensorSpec((), "uint8"), [1, 2]),
    (pa.array(np.float16([1, 2])), TensorSpec((), "float16"), [1.0, 2.0]),
    (pa.array(["a", "b"], pa.large_string()), TensorSpec((), "string"), [b"a", b"b"]),
    (pa.array(["a", "b"], pa.string_view()), TensorSpec((), "string"), [b"a", b"b"]),
    (pa.array([b"\xff", b""], pa.binary()), TensorSpec((), "string"), [b"\xff", b""]),
    (pa.array([b"ab", b"cd"], pa.binary(2)), TensorSpec((), "string"), [b"ab", b"cd"]),
    (pa.array(["b", "b"]).dictionary_encode(), TensorSpec((), "string"), [b"b", b"b"]),
    (pa.array([1, 2], pa.date32()), TensorSpec((), "int32"), [1, 2]),
    (pa.array([1, 2], pa.timestamp("us", "UTC")), TensorSpec((), "int64"), [1, 2]),
    (pa.array([[1], [2, 3]]), TensorSpec((None,), "int64"), [[1], [2, 3]]),
    (pa.array([["a"], []]), TensorSpec((None,), "string"), [[b"a"], []]),
    (pa.array([[0, 1], [2, 3]], pa.list_(pa.int32(), 2)), TensorSpec((2,), "int32"), [[0, 1], [2, 3]]),
    (pa.array([[[1, 2]], []], pa.list_(pa.list_(pa.int8(), 2))), TensorSpec((None, 2), "int8"), [[[1, 2]], []]),
    (pa.array([[1], [2, 3]]).slice(1), TensorSpec((None,), "int64"), [[2, 3]]),
    (
        pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(8, dtype=np.float32).reshape(2, 2, 2)),
        TensorSpec((2, 2), "float32"),
        [[[0, 1], [2, 3]], [[4, 5], [6, 7]]],
    ),
    (
        pa.array([{"b": 1, "a": "x"}, {"b": 2, "a": "y"}]),
        {"b": TensorSpec((), "int64"), "a": TensorSpec((), "string")},
        [{"b": 1, "a": b"x"}, {"b": 2, "a": b"y"}],
    ),
]


@pytest.mark.parametrize(("array", "spec", "values"), KINDS, ids=[str(array.type) for array, _, _ in KINDS])
def test_every_type_becomes_an_element(array: Any, spec: Any, values: Any) -> None:
    dataset = Dataset.from_arrow(pa.table({"c": array}))
    assert dataset.element_spec == {"c": spec}
    assert elements(dataset) == [{"c": value} for value in values]
    iterator = start(dataset)
    iterator.next()
    assert drain(iterator) == [{"c": value} for value in values[1:]]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([None, None]),
        pa.array([[[1]], [[2, 3]]]),
        pa.array([1, 2], pa.decimal128(5)),
        pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
        pa.array([[{"a": 1}]]),
    ],
    ids=lambda array: str(array.type),
)
def test_types_that_no_element_can_have(array: Any) -> None:
    with pytest.raises(UnimplementedError, match="column 'c' has the type"):
        Dataset.from_arrow(pa.table({"c": array}))


def test_what_stands_for_null() -> None:
    table = pa.table({"f": [1.5, None], "n": [1, None], "t": [{"s": None}, {"s": "a"}], "d": pa.array([None, "x"])})
    dataset = Dataset.from_arrow(table, defaults={"n": 7, "t.s": "none", "d": ""})
    first, second = elements(dataset)
    assert first == {"f": 1.5, "n": 1, "t": {"s": b"none"}, "d": b""}
    assert str(second) == str({"f": float("nan"), "n": 7, "t": {"s": b"a"}, "d": b"x"})
    with pytest.raises(ValueError, match="defaults"):
        Dataset.from_arrow(table, defaults={"q": 1})


def test_only_a_row_with_a_null_is_missing() -> None:
    table = pa.table({"n": [0, 1, None, 3, None, 5], "l": [[1], None, [2], [3], [4], [5]]})
    dataset = Dataset.from_arrow(table, ["n"])
    with pytest.raises(InvalidArgumentError, match=r"defaults=\{'n'"):
        list(dataset)
    failed = "InvalidArgumentError"
    assert drain(start(dataset)) == [{"n": 0}, {"n": 1}, failed, {"n": 3}, failed, {"n": 5}]
    iterator, restored = start(dataset), start(dataset)
    iterator.next()
    restored.load(iterator.save())
    assert drain(restored) == [{"n": 1}, failed, {"n": 3}, failed, {"n": 5}]
    assert len(elements(Dataset.from_arrow(table).ignore_errors())) == 3


def test_arguments_that_make_no_sense(parquet: list[str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="0 columns 'q'"):
        Dataset.from_parquet(parquet, ["q"])
    with pytest.raises(ValueError, match="no files"):
        Dataset.from_parquet([])
    with pytest.raises(NotFoundError):
        Dataset.from_parquet("/no/such/file")
    with pytest.raises(InvalidArgumentError, match="expected a table"):
        Dataset.from_arrow(7)
    other = str(tmp_path / "other.parquet")
    pa.parquet.write_table(pa.table({"x": ["a"]}), other)
    with pytest.raises(ValueError, match=r"other\.parquet has the columns"):
        Dataset.from_parquet([parquet[0], other], ["x"])
    (tmp_path / "bad").write_bytes(b"no table at all")
    for read in (Dataset.from_parquet, Dataset.from_arrow):
        with pytest.raises(DataLossError, match="bad cannot be read"):
            read(tmp_path / "bad")


def test_a_damaged_row_group_is_all_that_is_missing(parquet: list[str]) -> None:
    dataset = Dataset.from_parquet(parquet)
    metadata = pa.parquet.ParquetFile(parquet[0]).metadata.row_group(1).column(0)
    with open(parquet[0], "r+b") as file:
        file.seek(metadata.dictionary_page_offset or metadata.data_page_offset)
        file.write(b"\xff" * metadata.total_compressed_size)
    assert drain(start(dataset)) == [*ROWS[:2], "DataLossError", *ROWS[4:]]


def test_a_file_that_is_gone_is_all_that_is_missing(parquet: list[str]) -> None:
    dataset = Dataset.from_parquet(parquet)
    Path(parquet[0]).unlink()
    assert drain(start(dataset)) == ["NotFoundError"] * 3 + ROWS[5:]


def test_without_pyarrow_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def refuse(name: str, *args: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return load(name, *args)

    monkeypatch.setattr(builtins, "__import__", refuse)
    for read in (Dataset.from_parquet, Dataset.from_arrow):
        with pytest.raises(FailedPreconditionError, match=r"pip install 'tfsvc\[arrow\]'"):
            read("rows")
