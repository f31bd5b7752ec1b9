"""Directories that TensorFlow wrote are read here, and those written here by TensorFlow."""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tfsvc import data, nest
from tfsvc.data.ops.list_files import matching_files
from tfsvc.errors import DataLossError, NotFoundError, UnimplementedError
from tfsvc.wire.specs_codec import decode_spec

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]
tf = pytest.importorskip("tensorflow")

Point = namedtuple("Point", "x y")
COMPRESSIONS = [None, "GZIP", "ZLIB", "SNAPPY", "NONE", "AUTO"]

DATASETS: dict[str, Callable[[Any], Any]] = {
    "numbers": lambda d: d.Dataset.range(5),
    "nothing": lambda d: d.Dataset.range(0),
    "a nest": lambda d: d.Dataset.from_tensor_slices({"b": [1, 2], "a": ([[1.5, 2.5], [3.0, 4.0]], ["x", "yz"])}),
    "named tuples": lambda d: d.Dataset.from_tensors(Point(1, [2])),
    "lengths that vary": lambda d: d.Dataset.range(4).map(lambda x: x).batch(3),
    "strings": lambda d: d.Dataset.from_tensor_slices([["a", ""], ["b" * 1000, "\u00e9"]]),
    "every type": lambda d: d.Dataset.from_tensors(
        tuple(
            np.ones(2, kind)
            for kind in (
                "bool",
                "int8",
                "uint8",
                "int16",
                "uint32",
                "uint64",
                "float16",
                "float64",
                "complex64",
                ml_dtypes.bfloat16,
            )
        )
    ),
    "more than a block": lambda d: d.Dataset.range(3).map(lambda x: (x, d_zeros(d, 100_000))),
    "what does not compress": lambda d: d.Dataset.from_tensors(
        np.random.default_rng(1).integers(0, 256, 700_000, np.uint8)
    ),
}


def d_zeros(d: Any, count: int) -> Any:
    return np.zeros(count, np.float32)


def plain(dataset: Any) -> list[Any]:
    return [
        nest.map_structure(lambda leaf: leaf if isinstance(leaf, bytes) else (leaf.dtype.name, leaf.tolist()), element)
        for element in dataset.as_numpy_iterator()
    ]


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("make", DATASETS.values(), ids=list(DATASETS))
def test_what_one_saves_the_other_loads(tmp_path: Path, make: Callable[[Any], Any], compression: str | None) -> None:
    ours, theirs = make(data), make(tf.data)
    ours.save(str(tmp_path / "ours"), compression)
    theirs.save(str(tmp_path / "theirs"), compression)
    loaded = data.Dataset.load(tmp_path / "theirs", compression=compression)
    assert plain(loaded) == plain(ours)
    assert int(loaded.cardinality()) == int(
        tf.data.Dataset.load(str(tmp_path / "theirs"), compression=compression).cardinality()
    )
    # TensorFlow's own reader knows no names for "not compressed" but none.
    kind = compression if compression in ("GZIP", "ZLIB", "SNAPPY") else None
    again = tf.data.Dataset.load(str(tmp_path / "ours"), compression=kind)
    assert plain(again) == plain(theirs)
    specs = [decode_spec((tmp_path / name / "dataset_spec.pb").read_bytes()) for name in ("ours", "theirs")]
    assert specs[0] == specs[1] == loaded.element_spec


def itself(shard: Any) -> Any:
    return shard


def in_turns_of(count: int) -> Callable[[Any], Any]:
    return lambda shards: shards.interleave(itself, cycle_length=count)


def one_by_one_of(shards: Any) -> Any:
    return shards.flat_map(itself)


def test_shards_are_read_in_the_same_turns(tmp_path: Path) -> None:
    for kinds, name in ((data, "ours"), (tf.data, "theirs")):
        kinds.Dataset.range(12).save(str(tmp_path / name), shard_func=lambda x: x % 3)
    expected = list(range(12))
    for name in ("ours", "theirs"):
        assert [int(x) for x in data.Dataset.load(tmp_path / name)] == expected
        in_turns = tf.data.Dataset.load(str(tmp_path / name), reader_func=in_turns_of(3))
        assert [int(x) for x in in_turns] == expected
    for kinds in (data, tf.data):
        one_by_one = kinds.Dataset.load(str(tmp_path / "ours"), reader_func=one_by_one_of)
        assert [int(x) for x in one_by_one] == [*range(0, 12, 3), *range(1, 12, 3), *range(2, 12, 3)]
        assert one_by_one.element_spec.shape == ()


def test_snapshots_have_one_layout(tmp_path: Path) -> None:
    spec = {"n": tf.TensorSpec((), tf.int64), "s": tf.TensorSpec((), tf.string)}
    theirs = tf.data.Dataset.range(7).map(lambda x: {"n": x, "s": tf.strings.as_string(x)})
    assert len(list(theirs.snapshot(str(tmp_path / "theirs"), shard_func=lambda e: e["n"] % 2))) == 7
    ours = data.Dataset.range(7).map(lambda x: {"n": x, "s": str(x)})
    assert plain(ours.snapshot(tmp_path / "ours", shard_func=lambda e: e["n"] % 2)) == plain(theirs)
    (one,), (two,) = (list((tmp_path / name).iterdir()) for name in ("ours", "theirs"))
    assert plain(data.Dataset.load(two, ours.element_spec, "SNAPPY")) == plain(theirs)
    in_turns = tf.data.Dataset.load(str(one), spec, "SNAPPY", in_turns_of(2))
    assert plain(in_turns) == plain(theirs)


def test_ragged_elements_are_refused(tmp_path: Path) -> None:
    tf.data.Dataset.from_tensors(tf.ragged.constant([[1], [2, 3]])).save(str(tmp_path))
    with pytest.raises(UnimplementedError, match="cannot be read as arrays"):
        data.Dataset.load(tmp_path)


def test_a_distributed_snapshot_is_loaded(tmp_path: Path) -> None:
    service = tf.data.experimental.service
    dispatcher = service.DispatchServer(
        service.DispatcherConfig(port=0, fault_tolerant_mode=True, work_dir=str(tmp_path / "journal"))
    )
    address = dispatcher.target.split("://")[1]
    worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=address, heartbeat_interval_ms=100))
    theirs = tf.data.Dataset.range(20).map(lambda x: {"n": x, "s": tf.strings.as_string(x)})
    path = tmp_path / "snapshot"
    tf.data.experimental.distributed_save(theirs, str(path), address)
    loaded = data.Dataset.load(path, wait=True)
    assert sorted(row["n"].item() for row in loaded) == list(range(20))
    assert len(loaded) == 20
    assert [plan.count for plan in loaded.operator.plans()] == [len(list((path / "chunks").iterdir()))]
    with pytest.raises(ValueError, match="actual compression is SNAPPY"):
        data.Dataset.load(path, compression="GZIP")
    with pytest.raises(ValueError, match="actual element_spec is"):
        data.Dataset.load(path, data.Dataset.range(1).element_spec)
    del worker


@pytest.mark.parametrize(
    "pattern",
    ["*", "*.txt", "?.txt", "**", "*/*", "**/*.txt", "c\\*.txt", "[ab].txt", "[!a].txt", "[^a].txt", "{a,b}.txt"]
    + ["d[[]1].txt", "sub", "sub/", "sub/../*.txt", "[a-b].txt", ".*", "*/.x/*", "*.t[x]t", "[b", "[]b]*", "\\a.txt"],
)
def test_files_are_found_by_the_same_patterns(tmp_path: Path, pattern: str) -> None:
    for name in ("a.txt", "b.txt", ".h.txt", "c*.txt", "sub/a.txt", "sub/.x/q.txt", "d[1].txt", "\u00e9.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).touch()
    theirs = sorted(tf.io.matching_files(str(tmp_path / pattern)).numpy().tolist())
    assert matching_files([str(tmp_path / pattern)] if theirs else [str(tmp_path / pattern), "/dev/null"]) == (
        theirs or [b"/dev/null"]
    )


def test_what_is_not_there_or_compressed_otherwise(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError):
        tf.data.Dataset.load(str(tmp_path))
    with pytest.raises(NotFoundError, match="metadata"):
        data.Dataset.load(tmp_path)
    for kinds, error in ((data, DataLossError), (tf.data, tf.errors.DataLossError)):
        kinds.Dataset.range(3).save(str(tmp_path / "gzip"), "GZIP")
        with pytest.raises(error):
            list(kinds.Dataset.load(str(tmp_path / "gzip")))
