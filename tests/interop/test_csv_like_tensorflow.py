"""CSV files are read as TensorFlow reads them, row by row and error by error."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tfsvc import data

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]
tf = pytest.importorskip("tensorflow")

OURS, THEIRS = data.experimental, tf.data.experimental


def outcomes(dataset: Any, limit: int = 30) -> list[Any]:
    """The rows, with the text of the error in the place of one that failed."""
    iterator = dataset.as_numpy_iterator()
    found: list[Any] = []
    while len(found) < limit:
        try:
            found.append(tuple(x if isinstance(x, bytes) else (x.dtype.name, str(x)) for x in next(iterator)))
        except StopIteration:
            break
        except Exception as error:
            text = re.sub(r"{{.*?}} | \[Op:.*|( of)? /\S*rows.csv$", "", error.message, flags=re.DOTALL)  # type: ignore[attr-defined]
            found.append((type(error).__name__, text.strip()))
    return found


def both(path: Path, text: bytes, defaults: list[Any], **options: Any) -> tuple[list[Any], list[Any]]:
    path.write_bytes(text)
    return (
        outcomes(OURS.CsvDataset(str(path), defaults, **options)),
        outcomes(THEIRS.CsvDataset(str(path), tensors(defaults), **options)),
    )


def tensors(defaults: list[Any]) -> list[Any]:
    """TensorFlow takes an array of NumPy's for its data type."""
    return [tf.constant(default) if isinstance(default, np.ndarray) else default for default in defaults]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("csv") / "rows.csv"


PIECES = st.lists(
    st.sampled_from(['"', '""', ",", ",", ",", "\n", "\n", "\r", "\r\n", "1", "a", " ", "NA", ",x", '"b,c"', "7\n"]),
    max_size=14,
)


@given(
    PIECES.map("".join),
    st.sampled_from([[1.5, "float32"], ["", "x"], [np.int64(3), ""], [""] * 3]),
    st.fixed_dictionaries(
        {}, optional={"header": st.booleans(), "use_quote_delim": st.booleans(), "na_value": st.just("NA")}
    ),
)
@example('a"b\n1,2\n3,4\n', ["", "x"], {"header": True})
@example('1,"2"x\n3,4\n"5",6\n', ["", "x"], {})
@settings(max_examples=150)
def test_any_text_gives_the_same_rows_and_errors(path: Path, text: str, defaults: Any, options: Any) -> None:
    defaults = [np.array([d]) if d not in ("float32", "x") else d for d in defaults]
    ours, theirs = both(path, text.encode(), defaults, **options)
    if "Reached end" in str(ours[-1:]):
        # TensorFlow reports another fault of that last row where it comes first.
        assert theirs.pop()[0] == ours.pop()[0]
    assert ours == theirs


NUMBERS = [
    *("1", " 1 ", "+1", "-1", "1.0", "1e3", "0x10", "2147483648", "-2147483648", "1_0", "\t7", "\u0661", "0007", "--1"),
    *("- 1", " ", "1 2", "\xa01", "\x0b1", "9223372036854775807", "9223372036854775808", "1.5", "+1.5", "1."),
    *("  .5", ".", "1e5", "1e40", "1e-50", "-1e400", "inf", "-Inf", "infinity", "nan", "NaN", "-nan", "nan(1)", "+inf"),
    *("0x1p3", "1d5", "1f", "1e", "e5", "16777217.0000001", "0x1.8p1", "1e+5", "0x", "1__0", "_1", "0b1", "1L"),
]


@pytest.mark.parametrize("kind", ["int32", "int64", "float32", "float64"])
def test_numbers_are_read_alike(path: Path, kind: str) -> None:
    ours, theirs = both(path, "\n".join(NUMBERS).encode(), [kind])
    assert len(ours) == min(30, len(NUMBERS))
    assert dict(zip(NUMBERS, ours, strict=False)) == dict(zip(NUMBERS, theirs, strict=False))
    ours, theirs = both(path, "\n".join(NUMBERS[30:]).encode(), [kind])
    assert ours == theirs


@pytest.mark.parametrize(
    ("defaults", "options"),
    [
        (["int32", "int32"], {"select_cols": [1, 3]}),
        (["int32", "int32"], {"exclude_cols": [1, 3]}),
        (["int32", "int32"], {"select_cols": [1]}),
        (["int32", "int32"], {"select_cols": [1, 0]}),
        (["int32", "int32"], {"select_cols": [-1, 1]}),
        (["int32", "int32"], {"exclude_cols": [1, 1]}),
        (["int32"], {"select_cols": [1], "exclude_cols": [0]}),
        (["int32", "int32"], {"field_delim": ";;"}),
        (["int32", "int32"], {"field_delim": ""}),
        (["int32", "int32"], {"field_delim": ";"}),
        ([np.array([1, 2], np.int32), "int32"], {}),
        ([np.array([[1]], np.int32), "int32"], {}),
        ([np.int32(5), "string"], {"select_cols": []}),
        ([], {}),
        (["int32"], {"compression_type": "X"}),
    ],
)
def test_arguments_mean_the_same(path: Path, defaults: Any, options: Any) -> None:
    path.write_bytes(b"1,2,3,4\n5,6\n7;8\n,1,2,3,4,5\n")

    def made(kinds: Any) -> Any:
        try:
            return outcomes(kinds.CsvDataset(str(path), tensors(defaults), **options))
        except Exception as error:
            return type(error).__name__

    assert made(OURS) == made(THEIRS)


FILES = {"a.csv": "a,b,c\n1,2.5,x\n3,,y\n5,6,z\n", "b.csv": "a,b,c\n7,1,\n3000000000,1e300,2\n"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"label_name": "c"},
        {"select_columns": ["c", 0]},
        {"column_names": ["x", "y", "z"]},
        {"column_names": ["x", "y", "z"], "header": False},
        {"column_defaults": ["int64", 1.5, ""]},
        {"num_parallel_reads": 2},
        {"num_rows_for_inference": 2, "ignore_errors": True},
        {"num_epochs": 2},
        {"num_epochs": None},
        {"select_columns": ["c"], "column_defaults": [""]},
    ],
)
def test_batches_with_names_agree(tmp_path: Path, options: Any) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    options = {"num_epochs": 1, "shuffle": False, "label_name": None} | options
    if "column_defaults" in options:
        options["column_defaults"] = [tf.constant([d]) if d == 1.5 else d for d in options["column_defaults"]]
    pattern = str(tmp_path / "*.csv")
    ours, theirs = (kinds.make_csv_dataset(pattern, 2, **options) for kinds in (OURS, THEIRS))
    assert shown(ours) == shown(theirs)
    assert specs(ours) == specs(theirs)
    assert int(ours.cardinality()) == int(theirs.cardinality())


def parts(element: Any) -> list[tuple[str, Any]]:
    """The columns of an element with their names, the label being nameless."""
    features, *label = element if isinstance(element, tuple) else (element,)
    return [*features.items(), *(("", part) for part in label)]


def shown(dataset: Any) -> list[Any]:
    rows = [parts(element) for element in dataset.take(8).as_numpy_iterator()]
    return [[(name, column.dtype.name, column.tolist()) for name, column in row] for row in rows]


def specs(dataset: Any) -> list[Any]:
    return [(name, spec.dtype.name, tuple(spec.shape)) for name, spec in parts(dataset.element_spec)]


@pytest.mark.parametrize(
    "options",
    [
        {"label_name": "q"},
        {"header": False},
        {"select_columns": ["a", "q"]},
        {"select_columns": ["a", "a"]},
        {"select_columns": [7]},
        {"column_names": ["a", "a", "b"]},
        {"select_columns": ["a"], "column_defaults": ["int32", "int32"]},
        {"compression_type": "X"},
        {"compression_type": "ZLIB"},
        {"column_names": ["a", "b"]},
        {"file_pattern": []},
        {"file_pattern": "/no/such/file"},
        {"file_pattern": "/dev/null"},
    ],
)
def test_what_cannot_be_made_fails_alike(tmp_path: Path, options: Any) -> None:
    (tmp_path / "a.csv").write_text(FILES["a.csv"])
    options = {"file_pattern": str(tmp_path / "a.csv"), "batch_size": 2} | options
    for kinds in (OURS, THEIRS):
        with pytest.raises(ValueError):
            kinds.make_csv_dataset(**options)
