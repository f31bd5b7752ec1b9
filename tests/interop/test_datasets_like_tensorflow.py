"""The same calls on ``tf.data`` give the same elements, specs and cardinalities."""

from __future__ import annotations

import gzip
import os
import zlib
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfsvc import data, nest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]
tensorflow = pytest.importorskip("tensorflow")

Point = namedtuple("Point", "x y")
READ = 12
"""Elements that are compared at most, since some datasets are endless."""

PIPELINES: dict[str, Callable[[Any], Any]] = {
    "range": lambda d: d.Dataset.range(5),
    "range with a start": lambda d: d.Dataset.range(2, 5),
    "range downwards": lambda d: d.Dataset.range(10, 1, -3),
    "range of nothing": lambda d: d.Dataset.range(5, 1),
    "range of int32": lambda d: d.Dataset.range(3, output_type=np.int32),
    "range of floats": lambda d: d.Dataset.range(3, output_type=np.float32),
    "one number": lambda d: d.Dataset.from_tensors(1),
    "one large number": lambda d: d.Dataset.from_tensors(1 << 40),
    "one string": lambda d: d.Dataset.from_tensors("a"),
    "one list": lambda d: d.Dataset.from_tensors([1.0, 2]),
    "one list of strings": lambda d: d.Dataset.from_tensors([["a", "b"]]),
    "one tuple": lambda d: d.Dataset.from_tensors((True, [1, 2], {"b": 2.5, "a": b"x"})),
    "one named tuple": lambda d: d.Dataset.from_tensors(Point(1, [2])),
    "one empty list": lambda d: d.Dataset.from_tensors([]),
    "one complex number": lambda d: d.Dataset.from_tensors(1j),
    "mixed numbers": lambda d: d.Dataset.from_tensors(([np.float32(1), 2.5], [np.float64(1), 2])),
    "half precision": lambda d: d.Dataset.from_tensors(np.ones(2, np.float16)),
    "slices": lambda d: d.Dataset.from_tensor_slices([1, 2, 3]),
    "slices of rows": lambda d: d.Dataset.from_tensor_slices(np.arange(6).reshape(3, 2)),
    "slices of a dict": lambda d: d.Dataset.from_tensor_slices({"b": [1, 2], "a": [[1.0, 2.0], [3.0, 4.0]]}),
    "slices of a tuple of one": lambda d: d.Dataset.from_tensor_slices(([1, 2],)),
    "slices of strings": lambda d: d.Dataset.from_tensor_slices(np.array(["a", "bc"])),
    "slices of nothing": lambda d: d.Dataset.from_tensor_slices([]),
    "a generator": lambda d: d.Dataset.from_generator(lambda: [1, 2], output_types=np.int64),
    "a generator with shapes": lambda d: d.Dataset.from_generator(
        lambda: [(1, ["a"])], output_types=(np.int64, np.str_), output_shapes=((), (None,))
    ),
    "a generator with arguments": lambda d: d.Dataset.from_generator(
        lambda n: range(n), args=(3,), output_types=np.int32, output_shapes=()
    ),
    "map": lambda d: d.Dataset.range(3).map(lambda x: x * 2),
    "map to a tuple": lambda d: d.Dataset.range(3).map(lambda x: (x, [x, x])),
    "map to a list": lambda d: d.Dataset.range(3).map(lambda x: [x, 2 * x]),
    "map to nested lists": lambda d: d.Dataset.range(3).map(lambda x: (x, [[x, x]])),
    "map to a dict": lambda d: d.Dataset.range(3).map(lambda x: {"b": x, "a": (x, 1.5)}),
    "map to constants": lambda d: d.Dataset.range(2).map(lambda x: ("a", 1.5, 1, True)),
    "map of a tuple": lambda d: d.Dataset.from_tensors((1, (2, 3))).map(lambda a, b: a + b[0]),
    "map of a dict": lambda d: d.Dataset.from_tensors({"a": 1}).map(lambda e: e["a"] + 1),
    "map of a named tuple": lambda d: d.Dataset.from_tensors(Point(1, 2)).map(lambda p: p.y),
    "map of a batch": lambda d: d.Dataset.range(5).batch(2).map(lambda x: x + 1),
    "map of a whole batch": lambda d: d.Dataset.range(5).batch(2, drop_remainder=True).map(lambda x: x + 1),
    "filter": lambda d: d.Dataset.range(7).filter(lambda x: x % 3 == 1),
    "filter of nothing": lambda d: d.Dataset.range(0).filter(lambda x: x > 1),
    "flat_map": lambda d: d.Dataset.range(4).flat_map(lambda x: d.Dataset.from_tensors(x).repeat(x)),
    "flat_map of pairs": lambda d: d.Dataset.range(2).flat_map(lambda x: d.Dataset.range(2).enumerate()),
    "flat_map of nothing": lambda d: d.Dataset.range(0).flat_map(lambda x: d.Dataset.range(2)),
    "interleave": lambda d: d.Dataset.range(5).interleave(
        lambda x: d.Dataset.from_tensors(x).repeat(x), cycle_length=2, block_length=2
    ),
    "interleave of uneven ones": lambda d: d.Dataset.range(6).interleave(
        lambda x: d.Dataset.from_tensors(x).repeat(6 - x), cycle_length=3, block_length=2
    ),
    "parallel interleave": lambda d: d.Dataset.range(6).interleave(
        lambda x: d.Dataset.from_tensors(x).repeat(3), cycle_length=3, num_parallel_calls=2
    ),
    "batch": lambda d: d.Dataset.range(7).batch(3),
    "batch without remainder": lambda d: d.Dataset.range(7).batch(3, drop_remainder=True),
    "batch of batches": lambda d: d.Dataset.range(5).batch(2).batch(1),
    "batch of a dict": lambda d: d.Dataset.from_tensor_slices({"a": ["x", "y", "z"], "b": [[1], [2], [3]]}).batch(2),
    "batch of unknown shapes": lambda d: d.Dataset.from_generator(lambda: [1, 2, 3], output_types=np.int64).batch(2),
    "unbatch": lambda d: d.Dataset.range(7).batch(3).unbatch(),
    "unbatch of whole batches": lambda d: d.Dataset.range(7).batch(3, drop_remainder=True).unbatch(),
    "unbatch of a dict": lambda d: d.Dataset.from_tensors({"a": [1, 2], "b": [[1], [2]]}).unbatch(),
    "shuffle in a buffer of one": lambda d: d.Dataset.range(5).shuffle(1),
    "repeat": lambda d: d.Dataset.range(3).repeat(2),
    "repeat without end": lambda d: d.Dataset.range(3).repeat(),
    "repeat not at all": lambda d: d.Dataset.range(3).repeat(0),
    "repeat of nothing": lambda d: d.Dataset.range(0).repeat(),
    "repeat of unknown": lambda d: d.Dataset.range(4).filter(lambda x: x > 1).repeat(2),
    "repeat twice": lambda d: d.Dataset.range(2).repeat(2).repeat(2),
    "take": lambda d: d.Dataset.range(5).take(2),
    "take more than there is": lambda d: d.Dataset.range(2).take(5),
    "take all": lambda d: d.Dataset.range(5).take(-1),
    "take of endless": lambda d: d.Dataset.range(2).repeat().take(5),
    "take of unknown": lambda d: d.Dataset.range(5).filter(lambda x: x > 1).take(2),
    "skip": lambda d: d.Dataset.range(5).skip(2),
    "skip all": lambda d: d.Dataset.range(5).skip(-1),
    "skip more than there is": lambda d: d.Dataset.range(2).skip(5),
    "skip of endless": lambda d: d.Dataset.range(3).repeat().skip(2),
    "skip of unknown": lambda d: d.Dataset.range(5).filter(lambda x: x > 1).skip(-1),
    "shard": lambda d: d.Dataset.range(7).shard(3, 1),
    "shard beyond the data": lambda d: d.Dataset.range(2).shard(3, 2),
    "zip": lambda d: d.Dataset.zip(d.Dataset.range(3), d.Dataset.range(5, 10)),
    "zip as a method": lambda d: d.Dataset.range(3).zip(d.Dataset.range(2)),
    "zip of one": lambda d: d.Dataset.zip(d.Dataset.range(3)),
    "zip of a tuple of one": lambda d: d.Dataset.zip((d.Dataset.range(3),)),
    "zip of a dict": lambda d: d.Dataset.zip({"b": d.Dataset.range(2), "a": (d.Dataset.range(3), d.Dataset.range(4))}),
    "zip with endless": lambda d: d.Dataset.zip((d.Dataset.range(3), d.Dataset.range(2).repeat())),
    "zip with unknown": lambda d: d.Dataset.zip((d.Dataset.range(3), d.Dataset.range(5).filter(lambda x: x > 1))),
    "zip by keyword": lambda d: d.Dataset.zip(datasets=(d.Dataset.range(3), d.Dataset.range(2))),
    "concatenate": lambda d: d.Dataset.range(2).concatenate(d.Dataset.range(5, 7)),
    "concatenate of ranks": lambda d: d.Dataset.range(2).concatenate(d.Dataset.range(4).batch(2)),
    "concatenate of sizes": lambda d: d.Dataset.from_tensors([1, 2]).concatenate(d.Dataset.from_tensors([1, 2, 3])),
    "concatenate of unknown and endless": lambda d: (
        d.Dataset.range(3).filter(lambda x: x > 1).concatenate(d.Dataset.range(2).repeat())
    ),
    "enumerate": lambda d: d.Dataset.range(5, 8).enumerate(start=2),
    "enumerate of tuples": lambda d: d.Dataset.from_tensors((1, 2)).enumerate(),
    "enumerate of endless": lambda d: d.Dataset.range(2).repeat().enumerate(),
    "prefetch": lambda d: d.Dataset.range(3).prefetch(d.AUTOTUNE),
    "apply": lambda d: d.Dataset.range(3).apply(lambda e: e.map(lambda x: x + 1)),
    "concatenate of windows": lambda d: (
        d.Dataset.range(4).window(2).concatenate(d.Dataset.range(3).window(3)).flat_map(lambda w: w.batch(3))
    ),
    "padded_batch": lambda d: triangle(d).padded_batch(2),
    "padded_batch to a shape": lambda d: triangle(d).padded_batch(2, padded_shapes=[5]),
    "padded_batch with a value": lambda d: triangle(d).padded_batch(3, [None], np.int64(-1), drop_remainder=True),
    "padded_batch of a tuple": lambda d: d.Dataset.from_tensors(([1], "a")).padded_batch(
        2, padded_shapes=([3], []), padding_values=(7, None)
    ),
    "padded_batch with one value for all": lambda d: d.Dataset.from_tensors(([1], [2])).padded_batch(
        2, padded_shapes=([3], [-1]), padding_values=7
    ),
    "padded_batch of a dict": lambda d: d.Dataset.from_tensors({"a": [1]}).padded_batch(2, padded_shapes={"a": 3}),
    "padded_batch of strings": lambda d: d.Dataset.from_generator(
        lambda: [["a"], ["b", "c"]], output_types=np.str_, output_shapes=(None,)
    ).padded_batch(2),
    "rebatch": lambda d: d.Dataset.range(10).batch(4).rebatch(3),
    "rebatch in turns": lambda d: d.Dataset.range(10).batch(4, drop_remainder=True).rebatch([2, 1]),
    "rebatch into halves": lambda d: d.Dataset.range(8).batch(4, drop_remainder=True).rebatch(2),
    "rebatch without remainder": lambda d: d.Dataset.range(10).batch(4).rebatch(3, drop_remainder=True),
    "rebatch of a tuple": lambda d: d.Dataset.range(5).enumerate().batch(2).rebatch(3),
    "window": lambda d: d.Dataset.range(7).window(3).flat_map(lambda w: w.batch(3)),
    "window with a shift": lambda d: d.Dataset.range(7).window(3, shift=1).flat_map(lambda w: w.batch(3)),
    "window with a wide shift": lambda d: d.Dataset.range(12).window(3, shift=5).flat_map(lambda w: w.batch(3)),
    "window with a stride": lambda d: d.Dataset.range(7).window(2, 1, 3, True).flat_map(lambda w: w.batch(2)),
    "window of tuples": lambda d: (
        d.Dataset.range(5).enumerate().window(2).flat_map(lambda a, b: d.Dataset.zip((a.batch(2), b.batch(2))))
    ),
    "cardinality of windows": lambda d: d.Dataset.range(7).window(3).map(lambda w: w.cardinality()),
    "group_by_window": lambda d: d.Dataset.range(10).group_by_window(
        lambda x: x % 2, lambda key, group: group.batch(3), window_size=3
    ),
    "group_by_window with a function": lambda d: d.Dataset.range(10).group_by_window(
        lambda x: x % 2, lambda key, group: group.batch(9), window_size_func=lambda key: key + 2
    ),
    "group_by_window with negative keys": lambda d: d.Dataset.range(7).group_by_window(
        lambda x: -(x % 3), lambda key, group: group.map(lambda x: (key, x)), window_size=5
    ),
    "bucket_by_sequence_length": lambda d: triangle(d).bucket_by_sequence_length(length, [3, 5], [2, 2, 2]),
    "bucket_by_sequence_length to boundaries": lambda d: triangle(d).bucket_by_sequence_length(
        length, [3, 6], [2, 2, 2], pad_to_bucket_boundary=True
    ),
    "bucket_by_sequence_length without padding": lambda d: triangle(d).bucket_by_sequence_length(
        length, [2, 3, 4], [1, 1, 1, 1], no_padding=True
    ),
    "scan": lambda d: d.Dataset.range(5).scan(np.int64(0), lambda state, x: (state + x, (state, x))),
    "take_while": lambda d: d.Dataset.range(5).take_while(lambda x: x < 3),
    "take_while of tuples": lambda d: d.Dataset.range(5).enumerate(2).take_while(lambda i, x: i < 4),
    "unique": lambda d: d.Dataset.from_tensor_slices([1, 2, 1, 3]).unique(),
    "unique strings": lambda d: d.Dataset.from_tensor_slices(["a", "b", "a"]).unique(),
    "unique rows": lambda d: d.Dataset.from_tensor_slices([[1, 2], [2, 1], [1, 2]]).unique(),
    "unique of endless": lambda d: d.Dataset.range(3).repeat().unique().take(3),
    "ignore_errors": lambda d: d.Dataset.range(3).ignore_errors(),
    "cache": lambda d: d.Dataset.range(3).cache().repeat(2),
    "counter": lambda d: d.Dataset.counter(),
    "counter downwards": lambda d: d.Dataset.counter(start=2, step=-3, dtype=np.int32),
    "counter of floats": lambda d: d.experimental.Counter(2.0, 0.5, np.float32),
    "random": lambda d: d.Dataset.random(seed=1).map(lambda x: x >= 0),
    "choose_from_datasets": lambda d: d.Dataset.choose_from_datasets(
        [d.Dataset.range(3), d.Dataset.range(10, 20)], choices(d)
    ),
    "choose_from_datasets until all have ended": lambda d: d.Dataset.choose_from_datasets(
        [d.Dataset.range(2), d.Dataset.range(10, 20)], choices(d), stop_on_empty_dataset=False
    ),
    "choose_from_datasets without end": lambda d: d.Dataset.choose_from_datasets(
        [d.Dataset.range(2).repeat(), d.Dataset.range(10, 20).repeat()], d.Dataset.range(2).repeat()
    ),
    "choose_from_datasets of nothing": lambda d: d.Dataset.choose_from_datasets([d.Dataset.range(0)], choices(d)),
    "sample_from_datasets of one": lambda d: d.Dataset.sample_from_datasets([d.Dataset.range(3)]),
    "sample_from_datasets by weight": lambda d: d.Dataset.sample_from_datasets(
        [d.Dataset.range(3), d.Dataset.range(5, 9)], [0.0, 1.0]
    ),
    "sample_from_datasets of no weight": lambda d: d.Dataset.sample_from_datasets([d.Dataset.range(3)] * 2, [0.0, 0.0]),
    "sample_from_datasets of equal ones": lambda d: d.Dataset.sample_from_datasets(
        [d.Dataset.from_tensors(1).repeat()] * 2, seed=1
    ),
    "sample_from_datasets that stops": lambda d: d.Dataset.sample_from_datasets(
        [d.Dataset.from_tensors(1)] * 2, stop_on_empty_dataset=True
    ).take(1),
    "from_list": lambda d: d.experimental.from_list([(1, "a"), (2, "b")]),
    "from_list of shapes": lambda d: d.experimental.from_list([[1], [1, 2]]),
    "parallel map": lambda d: d.Dataset.range(20).map(lambda x: x * 2, num_parallel_calls=4),
    "parallel map at will": lambda d: d.Dataset.range(20).map(lambda x: x * 2, num_parallel_calls=d.AUTOTUNE),
    "with_options": lambda d: d.Dataset.range(3).with_options(d.Options()).batch(2),
    "a chain": lambda d: (
        d.Dataset.range(20).filter(lambda x: x % 2 == 0).map(lambda x: (x, x + 1)).batch(3).skip(1).repeat(2).take(4)
    ),
}


def triangle(d: Any) -> Any:
    return d.Dataset.from_generator(
        lambda: [np.full(n, n) for n in range(1, 5)], output_types=np.int64, output_shapes=(None,)
    )


def length(row: Any) -> Any:
    return row.shape[0] if isinstance(row, np.ndarray) else tensorflow.shape(row)[0]


def choices(d: Any) -> Any:
    return d.Dataset.from_tensor_slices(np.array([0, 1, 0, 0, 0, 1]))


@pytest.mark.parametrize("make", PIPELINES.values(), ids=list(PIPELINES))
def test_elements_specs_and_cardinalities_agree(make: Callable[[Any], Any]) -> None:
    ours, theirs = make(data), make(tensorflow.data)
    assert int(ours.cardinality()) == int(theirs.cardinality())
    assert same_spec(ours.element_spec, theirs.element_spec)
    for mine, its in zip(first_elements(ours), first_elements(theirs), strict=True):
        assert_same(mine, its)


def first_elements(dataset: Any) -> list[Any]:
    return list(dataset.take(READ).as_numpy_iterator())


def same_spec(ours: Any, theirs: Any) -> bool:
    tensorflow.nest.assert_same_structure(ours, theirs)
    pairs = zip(nest.flatten(ours), tensorflow.nest.flatten(theirs), strict=True)
    return all((one.shape, one.dtype.name) == (shape_of(two), two.dtype.name) for one, two in pairs)


def shape_of(spec: Any) -> Any:
    return None if spec.shape.rank is None else tuple(spec.shape)


def assert_same(ours: Any, theirs: Any) -> None:
    tensorflow.nest.assert_same_structure(ours, theirs)
    for mine, its in zip(nest.flatten(ours), tensorflow.nest.flatten(theirs), strict=True):
        assert type(mine) is type(its)
        if isinstance(mine, bytes):
            assert mine == its
        else:
            assert mine.dtype == its.dtype
            np.testing.assert_array_equal(mine, its)


@pytest.mark.parametrize(("kind", "write"), [("", bytes), ("GZIP", gzip.compress), ("ZLIB", zlib.compress)])
def test_lines_agree_also_where_ends_are_strange(tmp_path: Path, kind: str, write: Callable[[bytes], bytes]) -> None:
    names = [str(tmp_path / name) for name in ("a", "b", "c")]
    for name, text in zip(names, (b"a\r\nb\rc\n\r\n\nlast\r", b"", b"x\ny\n"), strict=True):
        Path(name).write_bytes(write(text))
    for many in (None, 2):
        ours = data.TextLineDataset(names, kind, num_parallel_reads=many)
        theirs = tensorflow.data.TextLineDataset(names, kind, num_parallel_reads=many)
        assert first_elements(ours) == first_elements(theirs)
        assert same_spec(ours.element_spec, theirs.element_spec)
    found = data.Dataset.list_files(str(tmp_path / "*"), shuffle=False)
    assert first_elements(found) == first_elements(
        tensorflow.data.Dataset.list_files(str(tmp_path / "*"), shuffle=False)
    )


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_records_agree(tmp_path: Path, kind: str) -> None:
    names = [str(tmp_path / name) for name in ("a", "b", "c")]
    for name, count in zip(names, (3, 0, 2), strict=True):
        with tensorflow.io.TFRecordWriter(name, kind) as writer:
            for i in range(count):
                writer.write(bytes([i]) * i * 1000)
    for many in (None, 2):
        ours = data.TFRecordDataset(names, kind, num_parallel_reads=many)
        theirs = tensorflow.data.TFRecordDataset(names, kind, num_parallel_reads=many)
        assert first_elements(ours) == first_elements(theirs)
        assert same_spec(ours.element_spec, theirs.element_spec)
    data.experimental.TFRecordWriter(names[1], kind).write(data.Dataset.from_tensor_slices(["a", "b"]))
    assert first_elements(tensorflow.data.TFRecordDataset(names[1], kind)) == [b"a", b"b"]


@pytest.mark.parametrize(("kind", "write"), [("", bytes), ("GZIP", gzip.compress), ("ZLIB", zlib.compress)])
def test_records_of_one_length_agree(tmp_path: Path, kind: str, write: Callable[[bytes], bytes]) -> None:
    name = str(tmp_path / "a")
    Path(name).write_bytes(write(b"HHaabbccF"))
    ours = data.FixedLengthRecordDataset(name, 2, 2, 1, compression_type=kind)
    theirs = tensorflow.data.FixedLengthRecordDataset(name, 2, 2, 1, compression_type=kind)
    assert first_elements(ours) == first_elements(theirs) == [b"aa", b"bb", b"cc"]


def test_reductions_agree() -> None:
    for add in (lambda s, x: s + x, lambda s, x: s * 2 + x):
        ours = data.Dataset.range(5).reduce(np.int64(0), add)
        assert ours == tensorflow.data.Dataset.range(5).reduce(np.int64(0), add).numpy()


def test_options_merge_the_same_way() -> None:
    def merged(d: Any) -> Any:
        one, two = d.Options(), d.Options()
        one.deterministic, one.threading.private_threadpool_size = False, 3
        two.deterministic, two.autotune.enabled = True, False
        both = d.Dataset.zip((d.Dataset.range(3).with_options(one), d.Dataset.range(3))).with_options(two).options()
        return both.deterministic, both.threading.private_threadpool_size, both.autotune.enabled

    assert merged(data) == merged(tensorflow.data) == (True, 3, False)


def test_resampled_pairs_have_the_same_spec() -> None:
    def label(x: Any) -> Any:
        return np.int32(0) if isinstance(x, np.ndarray) else tensorflow.constant(0)

    ours, theirs = (
        d.Dataset.from_tensors([1.5]).rejection_resample(label, [0.5, 0.5]) for d in (data, tensorflow.data)
    )
    assert same_spec(ours.element_spec, theirs.element_spec)
    assert int(ours.cardinality()) == int(theirs.cardinality())
