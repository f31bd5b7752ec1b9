"""The same mistakes in calls on ``tf.data`` raise errors of the same type, and a failing element is skipped alike."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.interop.test_datasets_like_tensorflow import length, triangle
from tfsvc import data

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]
tensorflow = pytest.importorskip("tensorflow")

READ = 24
"""Elements and failures that are compared at most."""

ERRORS: dict[str, Callable[[Any], Any]] = {
    "range of step 0": lambda d: d.Dataset.range(1, 5, 0),
    "range of nothing": lambda d: d.Dataset.range(),
    "batch of 0": lambda d: d.Dataset.range(3).batch(0),
    "shuffle in 0": lambda d: d.Dataset.range(3).shuffle(0),
    "shard of 0": lambda d: d.Dataset.range(3).shard(0, 0),
    "shard out of range": lambda d: d.Dataset.range(3).shard(2, 2),
    "prefetch": lambda d: d.Dataset.range(3).prefetch(-2),
    "cycle_length": lambda d: d.Dataset.range(3).interleave(lambda x: d.Dataset.range(3), cycle_length=0),
    "block_length": lambda d: d.Dataset.range(3).interleave(lambda x: d.Dataset.range(3), block_length=0),
    "slices of a scalar": lambda d: d.Dataset.from_tensor_slices((1, 2)),
    "slices of different lengths": lambda d: d.Dataset.from_tensor_slices(([1], [1, 2])),
    "generator that is no function": lambda d: d.Dataset.from_generator([1], output_types=np.int64),
    "generator without a signature": lambda d: d.Dataset.from_generator(lambda: [1]),
    "zip of a list": lambda d: d.Dataset.zip([d.Dataset.range(2), d.Dataset.range(2)]),
    "zip of a number": lambda d: d.Dataset.zip(3),
    "zip of nothing": lambda d: d.Dataset.zip(),
    "apply to no dataset": lambda d: d.Dataset.range(3).apply(lambda e: 3),
    "no such files": lambda d: d.Dataset.list_files("/no/such/file*"),
    "length of endless": lambda d: len(d.Dataset.range(3).repeat()),
    "length of unknown": lambda d: len(d.Dataset.range(3).filter(lambda x: x > 1)),
    "batch of different shapes": lambda d: list(
        d.Dataset.from_generator(lambda: [[1], [1, 2]], output_types=np.int64).batch(2)
    ),
    "value of another shape": lambda d: list(
        d.Dataset.from_generator(lambda: [[1, 2]], output_types=np.int64, output_shapes=())
    ),
    "a missing file": lambda d: list(d.TextLineDataset("/no/such/file")),
    "unknown compression": lambda d: list(d.TextLineDataset(__file__, "X")),
    "concatenate of dtypes": lambda d: d.Dataset.range(3).concatenate(d.Dataset.from_tensors(1.5)).element_spec,
    "predicate that is no bool": lambda d: list(d.Dataset.range(3).filter(lambda x: x)),
    "unbatch of scalars": lambda d: d.Dataset.range(3).unbatch().element_spec,
    "concatenate of known dtypes": lambda d: d.Dataset.range(3).concatenate(d.Dataset.from_tensors(1.5)),
    "padded_batch of 0": lambda d: d.Dataset.range(3).padded_batch(0),
    "padded_batch of another rank": lambda d: d.Dataset.from_tensors([1, 2]).padded_batch(2, padded_shapes=[]),
    "padded_batch into less": lambda d: d.Dataset.from_tensors([1, 2]).padded_batch(2, padded_shapes=[1]),
    "padded_batch into too little": lambda d: list(triangle(d).padded_batch(2, padded_shapes=[1])),
    "padded_batch with a float": lambda d: triangle(d).padded_batch(2, padding_values=-1.0),
    "padded_batch of unknown rank": lambda d: d.Dataset.from_generator(
        lambda: [[1]], output_types=np.int64
    ).padded_batch(2),
    "rebatch of scalars": lambda d: d.Dataset.range(3).rebatch(2).element_spec,
    "window of 0": lambda d: d.Dataset.range(3).window(0),
    "window shifted by 0": lambda d: d.Dataset.range(3).window(2, shift=0),
    "window with stride 0": lambda d: d.Dataset.range(3).window(2, stride=0),
    "group_by_window without a size": lambda d: d.Dataset.range(3).group_by_window(lambda x: x, lambda k, g: g),
    "group_by_window of floats": lambda d: list(
        d.Dataset.range(3).group_by_window(lambda x: x / 2, lambda k, g: g, window_size=1)
    ),
    "group_by_window to no dataset": lambda d: list(
        d.Dataset.range(3).group_by_window(lambda x: x, lambda k, g: k, window_size=1)
    ),
    "bucket_by_sequence_length without a size": lambda d: triangle(d).bucket_by_sequence_length(length, [3], [2]),
    "scan to no pair": lambda d: list(d.Dataset.range(3).scan(np.int64(0), lambda s, x: s)),
    "scan to another dtype": lambda d: list(d.Dataset.range(3).scan(np.int64(0), lambda s, x: (1.5, x))),
    "reduce to another dtype": lambda d: d.Dataset.range(3).reduce(np.int64(0), lambda s, x: 1.5),
    "take_while that is no bool": lambda d: list(d.Dataset.range(3).take_while(lambda x: x)),
    "unique of floats": lambda d: list(d.Dataset.from_tensor_slices([1.0]).unique()),
    "unique of pairs": lambda d: list(d.Dataset.range(3).enumerate().unique()),
    "choose_from_datasets of none": lambda d: d.Dataset.choose_from_datasets([], d.Dataset.range(3)),
    "choose_from_datasets by a list": lambda d: d.Dataset.choose_from_datasets([d.Dataset.range(3)], [0]),
    "choose_from_datasets by int32": lambda d: d.Dataset.choose_from_datasets(
        [d.Dataset.range(3)], d.Dataset.from_tensors(0)
    ),
    "choose_from_datasets out of range": lambda d: list(
        d.Dataset.choose_from_datasets([d.Dataset.range(3)], d.Dataset.range(1, 2))
    ),
    "sample_from_datasets of none": lambda d: d.Dataset.sample_from_datasets([]),
    "sample_from_datasets of another length": lambda d: d.Dataset.sample_from_datasets(
        [d.Dataset.range(3)], [0.5, 0.5]
    ),
    "sample_from_datasets with ints": lambda d: d.Dataset.sample_from_datasets([d.Dataset.range(3)] * 2, [1, 2]),
    "sample_from_datasets of dtypes": lambda d: d.Dataset.sample_from_datasets(
        [d.Dataset.range(3), d.Dataset.from_tensors(1.5)]
    ),
    "single element of none": lambda d: d.Dataset.range(0).get_single_element(),
    "single element of two": lambda d: d.Dataset.range(2).get_single_element(),
    "from_list of nothing": lambda d: d.experimental.from_list([]),
    "no parallel calls": lambda d: d.Dataset.range(3).map(lambda x: x, num_parallel_calls=0),
    "unknown option": lambda d: setattr(d.Options(), "foo", 1),
    "a missing record file": lambda d: list(d.TFRecordDataset("/no/such/file")),
    "a file that holds no records": lambda d: list(d.TFRecordDataset(__file__)),
    "records of no length": lambda d: list(d.FixedLengthRecordDataset(__file__, 0)),
    "records that do not fit": lambda d: list(d.FixedLengthRecordDataset(__file__, 1 << 30)),
}


@pytest.mark.parametrize("make", ERRORS.values(), ids=list(ERRORS))
def test_errors_have_the_same_type(make: Callable[[Any], Any]) -> None:
    with pytest.raises(Exception) as ours:
        make(data)
    with pytest.raises(Exception) as theirs:
        make(tensorflow.data)
    assert type(ours.value).__name__ == type(theirs.value).__name__


def test_a_failing_element_is_skipped_the_same_way() -> None:
    ours = data.Dataset.range(6).map(fragile)
    theirs = tensorflow.data.Dataset.range(6).map(
        lambda x: tensorflow.debugging.check_numerics(1.0 / tensorflow.cast(x - 2, tensorflow.float32), "bad")
    )
    for step in (
        lambda d, source: source,
        lambda d, source: d.Dataset.zip(d.Dataset.range(6), source),
        lambda d, source: d.Dataset.zip(source, d.Dataset.range(6)),
        lambda d, source: source.take(4),
        lambda d, source: source.enumerate(),
        lambda d, source: source.shard(2, 0),
        lambda d, source: source.repeat(2),
    ):
        assert drain(step(data, ours)) == drain(step(tensorflow.data, theirs))


def fragile(x: Any) -> Any:
    if x == 2:
        raise ValueError("bad")
    return np.float32(1.0) / np.float32(x - 2)


def drain(dataset: Any) -> list[Any]:
    iterator = dataset.as_numpy_iterator()
    found: list[Any] = []
    while len(found) < READ:
        try:
            found.append(next(iterator))
        except StopIteration:
            break
        except Exception:
            found.append("failed")
    return found
