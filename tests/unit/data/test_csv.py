"""CSV files: rows as tuples, and batches of them with names."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data.experimental import CsvDataset, make_csv_dataset
from tfsvc.errors import InvalidArgumentError, NotFoundError
from tfsvc.specs import TensorSpec

WRITERS: list[tuple[str, Callable[[bytes], bytes]]] = [("", bytes), ("GZIP", gzip.compress), ("ZLIB", zlib.compress)]
TEXT = b'id,text\n1,"a ""b"",\nc"\n2,\r\n3,last'
ROWS = [(1, b'a "b",\nc'), (2, b"none"), (3, b"last")]
FAILED = "InvalidArgumentError"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_bytes(TEXT)
    return path


@pytest.mark.parametrize(("kind", "write"), WRITERS)
def test_rows_are_tuples(path: Path, kind: str, write: Callable[[bytes], bytes]) -> None:
    path.write_bytes(write(TEXT))
    dataset = CsvDataset([str(path)] * 2, ["int32", np.array("none")], kind, header=True)
    assert elements(dataset) == ROWS * 2
    assert dataset.element_spec == (TensorSpec((), "int32"), TensorSpec((), "string"))
    assert [plan.count for plan in dataset.operator.plans()] == [2]


@pytest.mark.parametrize("taken", range(4))
@pytest.mark.parametrize(("kind", "write"), WRITERS)
def test_a_reader_goes_on_where_it_stood(path: Path, taken: int, kind: str, write: Callable[[bytes], bytes]) -> None:
    path.write_bytes(write(TEXT))
    dataset = CsvDataset(str(path), ["int32", np.array("none")], kind, header=True)
    iterator, restored = start(dataset), start(dataset)
    for _ in range(taken):
        iterator.next()
    restored.load(iterator.save())
    assert drain(restored) == drain(iterator) == ROWS[taken:]


def test_only_rows_that_do_not_fit_are_missing(path: Path) -> None:
    path.write_bytes(b'1,a\nx,b\n3\n4,d,e\n5,"f"g",\n"6",h\n7,i"\n,j\n9,"k')
    dataset = CsvDataset(str(path), ["int64", "string"])
    assert drain(start(dataset)) == [(1, b"a"), FAILED, FAILED, FAILED, FAILED, (6, b"h"), FAILED, FAILED, FAILED]
    assert elements(dataset.ignore_errors()) == [(1, b"a"), (6, b"h")]
    iterator = start(dataset)
    assert iterator.block(5) is None
    assert iterator.next() == (1, b"a")
    restored = start(dataset)
    restored.load(iterator.save())
    assert drain(restored) == drain(iterator) == [FAILED] * 4 + [(6, b"h")] + [FAILED] * 3


def test_rows_come_in_columns_as_they_come_alone(path: Path) -> None:
    path.write_text("1,0.5,a\n 2 ,,b\n3,1e40,\n" * 3 + "4,inf,c\n5,0x1p3,d\n6,1,e")
    for defaults, choice in (
        (["int32", np.float32([7.25]), np.array("x")], {}),
        ([np.float64([0.1])], {"select_cols": [1]}),
        (["int64", [""]], {"exclude_cols": [1]}),
    ):
        dataset = CsvDataset(str(path), defaults, **choice)
        block = start(dataset).block(10)
        assert block is not None
        assert block.count == 10
        alone = start(dataset)
        assert list(map(str, block.elements())) == [str(alone.next()) for _ in range(10)]
        assert elements(dataset.batch(5)) == elements(dataset.batch(1).unbatch().batch(5))


def test_a_quoted_field_may_be_as_long_as_it_likes(path: Path) -> None:
    field = "line\n" * 50_000
    path.write_text(f'1,"{field}"\n2,b\n')
    assert elements(CsvDataset(str(path), ["int32", "string"])) == [(1, field.encode()), (2, b"b")]
    # Old carriage returns, and what is left open for ever.
    path.write_text("1,a\r" * 20_000 + '2,"b')
    assert sum(row == (1, b"a") for row in drain(start(CsvDataset(str(path), ["int32", "string"])))) == 20_000


def test_columns_may_be_chosen_or_left_out(path: Path) -> None:
    path.write_text("1;2;NA\n4;;6\n")
    options: dict[str, Any] = {"field_delim": ";", "na_value": "NA"}
    assert elements(CsvDataset(str(path), [[1.5], [9]], select_cols=[1, 2], **options)) == [(2.0, 9), (1.5, 6)]
    assert elements(CsvDataset(str(path), ["int32", [9]], exclude_cols=[1], **options)) == [(1, 9), (4, 6)]


@pytest.mark.parametrize(
    ("defaults", "options", "what"),
    [
        ([], {}, "at least one column"),
        (["int32"], {"select_cols": [0], "exclude_cols": [1]}, "Either select_cols or exclude_cols"),
        (["int32"], {"select_cols": [0, 1]}, "match output size"),
        (["int32", "int32"], {"select_cols": [1, 0]}, "strictly increasing"),
        (["int32"], {"exclude_cols": [-1]}, "non-negative"),
        (["int32"], {"field_delim": "ab"}, "only 1 char"),
        (["int32"], {"compression_type": "X"}, "compression_type: X"),
        ([[1, 2]], {}, "only be 1 default"),
        ([[[1]]], {}, "at most rank 1"),
        ([np.bool_(True)], {}, "columns are int32"),
    ],
)
def test_arguments_that_make_no_sense(path: Path, defaults: Any, options: Any, what: str) -> None:
    with pytest.raises(InvalidArgumentError, match=what):
        CsvDataset(str(path), defaults, **options)


def test_a_bare_number_is_no_default(path: Path) -> None:
    with pytest.raises(TypeError, match=r"record_defaults\[1\].*np\.int32\(1\)"):
        CsvDataset(str(path), ["int32", 1])
    with pytest.raises(NotFoundError):
        list(CsvDataset("/no/such/file", ["int32"]))


def test_batches_have_names_and_types(path: Path) -> None:
    path.write_text("n,x,s\n1,0.5,a\n2,,b\n30000000000,2.5,\n")
    dataset = make_csv_dataset(str(path), 2, label_name="s", num_epochs=1, shuffle=False)
    assert elements(dataset) == [
        ({"n": [1, 2], "x": [0.5, 0.0]}, [b"a", b"b"]),
        ({"n": [30000000000], "x": [2.5]}, [b""]),
    ]
    assert dataset.element_spec == (
        {"n": TensorSpec((None,), "int64"), "x": TensorSpec((None,), "float32")},
        TensorSpec((None,), "string"),
    )


def test_batches_in_random_order_are_a_function_of_the_seed(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text("n\n" + "".join(f"{ord(name) * 100 + i}\n" for i in range(10)))

    def numbers(seed: int) -> Any:
        dataset = make_csv_dataset(str(tmp_path / "*.csv"), 30, shuffle_seed=seed, num_epochs=1, num_parallel_reads=2)
        return elements(dataset.take(1))[0]["n"]

    assert numbers(1) == numbers(1) != numbers(2)
    assert sorted(numbers(1)) == sorted(numbers(2))
    endless = make_csv_dataset(str(tmp_path / "*.csv"), 4)
    assert endless.element_spec == {"n": TensorSpec((4,), "int32")}
    assert len(elements(endless, 40)) == 40


def test_names_and_types_may_be_given_for_any_file(path: Path) -> None:
    path.write_bytes(zlib.compress(b"1,a\nx,b\n3,c\n"))
    with pytest.raises(ValueError, match="give `column_names`"):
        make_csv_dataset(str(path), 2, compression_type="ZLIB")
    dataset = make_csv_dataset(
        str(path),
        2,
        column_names=["n", "s"],
        column_defaults=["int32", "string"],
        header=False,
        compression_type="ZLIB",
        num_epochs=1,
        shuffle=False,
        ignore_errors=True,
    )
    assert elements(dataset) == [{"n": [1, 3], "s": [b"a", b"c"]}]
