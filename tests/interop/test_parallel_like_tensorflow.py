"""What runs in parallel keeps TensorFlow's order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tfsvc

tensorflow = pytest.importorskip("tensorflow")
pytestmark = pytest.mark.interop


def interleaved(tf: Any, cycle: int, block: int, calls: int) -> list[int]:
    def inner(x: Any) -> Any:
        return tf.data.Dataset.range(x * 7 % 5).map(lambda y: x * 10 + y)

    source = tf.data.Dataset.range(9)
    return [int(x) for x in source.interleave(inner, cycle, block, num_parallel_calls=calls)]


@pytest.mark.parametrize("cycle", [1, 2, 3, 5])
@pytest.mark.parametrize("block", [1, 2, 3])
@pytest.mark.parametrize("calls", [1, 2, -1])
def test_interleave(cycle: int, block: int, calls: int) -> None:
    calls = min(calls, cycle)
    assert interleaved(tfsvc, cycle, block, calls) == interleaved(tensorflow, cycle, block, calls)


@pytest.mark.parametrize("parallel", [None, 1, 2, 3, 4, 9])
def test_records_of_several_files(parallel: int | None, tmp_path: Path) -> None:
    names = []
    for number in range(7):
        names.append(str(tmp_path / str(number)))
        Path(names[-1]).write_text("".join(f"{number}{line}\n" for line in range(number * 3 % 5)))
    ours, theirs = (
        [bytes(line) for line in tf.data.TextLineDataset(names, num_parallel_reads=parallel).as_numpy_iterator()]
        for tf in (tfsvc, tensorflow)
    )
    assert ours == theirs


@pytest.mark.parametrize("calls", [0, -2])
def test_numbers_that_make_no_sense(calls: int) -> None:
    for tf in (tfsvc, tensorflow):
        source = tf.data.Dataset.range(3)
        for step in (
            lambda n, source=source: source.map(lambda x: x, num_parallel_calls=n),
            lambda n, source=source, tf=tf: source.interleave(tf.data.Dataset.range, 2, num_parallel_calls=n),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match="num_parallel_calls must be greater than zero"):
                list(step(calls))
        with pytest.raises(tf.errors.InvalidArgumentError):
            list(source.interleave(tf.data.Dataset.range, 2, num_parallel_calls=5))
