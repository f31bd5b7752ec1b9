"""The examples in the docstrings of what reads and keeps data run, and give what stands beside them."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import tfsvc as tf
from tests.unit.data.helpers import plain

CALLS: list[Any] = [
    tf.data.TextLineDataset,
    tf.data.TFRecordDataset,
    tf.data.FixedLengthRecordDataset,
    tf.data.experimental.CsvDataset,
    tf.data.experimental.make_csv_dataset,
    tf.data.Dataset.list_files,
    tf.data.Dataset.from_source,
    tf.data.Dataset.from_iterable,
    tf.data.Dataset.from_npy,
    tf.data.Dataset.from_npz,
    tf.data.Dataset.from_parquet,
    tf.data.Dataset.from_arrow,
    tf.data.Dataset.save,
    tf.data.Dataset.load,
    tf.data.Dataset.snapshot,
    tf.data.Dataset.cache,
]
EXAMPLE = re.compile(r"^Example::\n\n((?:(?:    .*)?\n)+)", re.MULTILINE)
RESULT = re.compile(r"^(.*?)  # ([\[{].*)$")


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_the_example_runs(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = EXAMPLE.search((inspect.getdoc(call) or "") + "\n")
    assert found
    names: dict[str, Any] = {"tf": tf, "np": np, "pyarrow": pyarrow, "Path": Path}
    script = textwrap.dedent(found[1])
    exec(script, names)
    for line in script.splitlines():
        told = RESULT.match(line)
        if told and isinstance(ast.parse(told[1]).body[0], ast.Expr):
            assert [*map(plain, listed(eval(told[1], names)))] == listed(ast.literal_eval(told[2]))


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
