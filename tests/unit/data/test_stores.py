"""save, load and snapshot: what is kept in directories."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data import Dataset
from tfsvc.data.ops.chunk import ChunkRecords
from tfsvc.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    UnimplementedError,
)
from tfsvc.specs import TensorSpec
from tfsvc.storage import folders
from tfsvc.storage.snapshots import RunWriter

NUMBERS = Dataset.range(10)


def doubled(x: Any) -> Any:
    return {"n": 2 * x, "s": str(x), "v": np.arange(x)}


class Failing:
    """A predicate that lets so many numbers through, beside the one that it is tried with."""

    def __init__(self, count: int) -> None:
        self.left = count + 1

    def __call__(self, x: Any) -> Any:
        if not self.left:
            raise OSError("the machine is gone")
        self.left -= 1
        return np.bool_(True)


@pytest.mark.parametrize("compression", [None, "NONE", "AUTO", "GZIP", "ZLIB", "SNAPPY"])
def test_what_is_saved_is_loaded(tmp_path: Path, compression: str | None) -> None:
    dataset = NUMBERS.map(doubled)
    dataset.save(tmp_path / "kept", compression)
    loaded = Dataset.load(str(tmp_path / "kept"), compression=compression)
    assert elements(loaded) == elements(dataset)
    assert loaded.element_spec == dataset.element_spec
    assert len(loaded) == 10


def test_shards_are_splits(tmp_path: Path) -> None:
    NUMBERS.save(tmp_path, shard_func=lambda x: x // 4)
    loaded = Dataset.load(tmp_path)
    assert [plan.count for plan in loaded.operator.plans()] == [3]
    assert elements(loaded) == [0, 4, 8, 1, 5, 9, 2, 6, 3, 7]
    in_order = Dataset.load(tmp_path, reader_func=lambda shards: shards.flat_map(lambda shard: shard))
    assert elements(in_order) == list(range(10))
    assert in_order.element_spec == TensorSpec((), "int64")
    assert [plan.count for plan in in_order.operator.plans()] == [3]
    with pytest.raises(UnimplementedError, match="cannot be split"):
        ChunkRecords("chunk").plans()


@pytest.mark.parametrize("taken", [0, 3, 9, 10])
@pytest.mark.parametrize("compression", ["", "SNAPPY", "GZIP"])
def test_a_reader_goes_on_where_it_stood(tmp_path: Path, taken: int, compression: str) -> None:
    NUMBERS.map(doubled).save(tmp_path, compression, shard_func=lambda e: e["n"] % 3)
    dataset = Dataset.load(tmp_path, compression=compression)
    iterator, restored = start(dataset), start(dataset)
    for _ in range(taken):
        iterator.next()
    restored.load(iterator.save())
    rest = drain(iterator)
    assert drain(restored) == rest
    assert len(rest) == 10 - taken


def test_a_crash_leaves_what_was_there(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="gone"):
        NUMBERS.filter(Failing(4)).save(tmp_path)
    with pytest.raises(NotFoundError, match="not to its end"):
        Dataset.load(tmp_path)
    NUMBERS.save(tmp_path)
    with pytest.raises(OSError, match="gone"):
        NUMBERS.filter(Failing(4)).save(tmp_path)
    assert elements(Dataset.load(tmp_path)) == list(range(10))
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 1


@pytest.mark.parametrize("dies_at", ["dataset_spec.pb", "snapshot.metadata"])
def test_a_crash_between_the_last_writes_leaves_nothing_mixed(
    tmp_path: Path, dies_at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    NUMBERS.save(tmp_path)
    write = folders.write_atomically

    def die(path: Path, data: bytes, durable: bool) -> None:
        if path.name == dies_at:
            raise OSError("the machine is gone")
        write(path, data, durable)

    monkeypatch.setattr(folders, "write_atomically", die)
    with pytest.raises(OSError, match="gone"):
        NUMBERS.map(doubled).save(tmp_path)
    with pytest.raises(NotFoundError):
        Dataset.load(tmp_path)


def test_a_later_save_replaces_an_earlier_one(tmp_path: Path) -> None:
    NUMBERS.save(tmp_path)
    NUMBERS.take(3).map(doubled).save(tmp_path)
    assert elements(Dataset.load(tmp_path)) == elements(NUMBERS.take(3).map(doubled))


@pytest.mark.parametrize(("count", "made_again"), [(7, 4), (2, 10)])
def test_a_save_with_checkpoints_goes_on_behind_the_last(tmp_path: Path, count: int, made_again: int) -> None:
    arguments = {"directory": str(tmp_path / "checkpoints"), "checkpoint_interval": 3, "max_to_keep": 1}
    shuffled = NUMBERS.shuffle(4)
    with pytest.raises(OSError, match="gone"):
        shuffled.filter(Failing(count)).save(tmp_path / "kept", checkpoint_args=arguments)
    again = Failing(100)
    shuffled.filter(again).save(tmp_path / "kept", "NONE", checkpoint_args=arguments)
    assert 100 - again.left == made_again
    assert sorted(elements(Dataset.load(tmp_path / "kept"))) == list(range(10))
    assert list((tmp_path / "checkpoints").iterdir()) == []


def test_a_checkpoint_whose_chunks_are_gone_starts_anew(tmp_path: Path) -> None:
    arguments = {"directory": tmp_path / "checkpoints", "checkpoint_interval": 3}
    with pytest.raises(OSError, match="gone"):
        NUMBERS.filter(Failing(7)).save(tmp_path / "kept", checkpoint_args=arguments)
    (run,) = (path for path in (tmp_path / "kept").iterdir() if path.is_dir())
    run.rename(tmp_path / "elsewhere")
    NUMBERS.save(tmp_path / "kept", checkpoint_args=arguments)
    assert elements(Dataset.load(tmp_path / "kept")) == list(range(10))


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="infinite"):
        NUMBERS.repeat().save(tmp_path)
    with pytest.raises(InvalidArgumentError, match="no compression 'X'"):
        NUMBERS.save(tmp_path, "X")
    with pytest.raises(TypeError, match="shard_func"):
        NUMBERS.save(tmp_path, shard_func=lambda x: "a")
    with pytest.raises(InvalidArgumentError, match="shard -1"):
        NUMBERS.save(tmp_path, shard_func=lambda x: -1)
    with pytest.raises(InvalidArgumentError, match="no part of an element spec"):
        NUMBERS.window(2).save(tmp_path)
    with pytest.raises(InvalidArgumentError, match="no components"):
        NUMBERS.map(lambda x: ()).save(tmp_path)
    with pytest.raises(ValueError, match="checkpoint"):
        NUMBERS.save(tmp_path, checkpoint_args={"checkpoint": 1})
    with pytest.raises(ValueError, match="directory"):
        NUMBERS.save(tmp_path, checkpoint_args={})
    with pytest.raises(NotFoundError):
        Dataset.load(tmp_path)


def test_what_cannot_be_loaded(tmp_path: Path) -> None:
    NUMBERS.save(tmp_path)
    with pytest.raises(InvalidArgumentError, match="dtypes"):
        Dataset.load(tmp_path, TensorSpec((), "int32"))
    with pytest.raises(InvalidArgumentError, match="component 0"):
        list(Dataset.load(tmp_path, TensorSpec((1,), "int64")))
    (tmp_path / "dataset_spec.pb").unlink()
    with pytest.raises(NotFoundError, match="element_spec"):
        Dataset.load(tmp_path)
    assert elements(Dataset.load(tmp_path, TensorSpec((), "int64"))) == list(range(10))
    (chunk,) = tmp_path.rglob("*.snapshot")
    chunk.write_bytes(chunk.read_bytes()[:-3])
    assert drain(start(Dataset.load(tmp_path, TensorSpec((), "int64"))))[8:] == [8, "DataLossError"]
    (tmp_path / "snapshot.metadata").write_bytes(b"\xff")
    with pytest.raises(DataLossError, match="damaged"):
        Dataset.load(tmp_path)


def test_stores_are_shipped(tmp_path: Path) -> None:
    NUMBERS.save(tmp_path / "saved")
    order = {"reader_func": lambda shards: shards.flat_map(lambda shard: shard)}
    for dataset in (
        Dataset.load(tmp_path / "saved"),
        Dataset.load(tmp_path / "saved", **order),
        NUMBERS.snapshot(tmp_path / "kept", **order, shard_func=lambda x: x // 5),
        NUMBERS.cache(str(tmp_path / "cache")),
    ):
        shipped = cloudpickle.loads(cloudpickle.dumps(dataset))
        assert elements(shipped) == elements(shipped) == list(range(10))


def test_a_distributed_snapshot_says_how_it_is(tmp_path: Path) -> None:
    (tmp_path / "snapshot.metadata").write_text('element_spec: "x"\ncompression: "SNAPPY"\n')
    with pytest.raises(NotFoundError, match="has not ended"):
        Dataset.load(tmp_path)
    (tmp_path / "ERROR").write_text("code: INTERNAL")
    with pytest.raises(FailedPreconditionError, match="code: INTERNAL"):
        Dataset.load(tmp_path)


def test_a_snapshot_is_made_once(tmp_path: Path) -> None:
    def counted(x: Any) -> Any:
        with (tmp_path / "calls").open("a") as file:
            file.write("x")
        return x < 5

    dataset = NUMBERS.filter(counted).snapshot(tmp_path / "kept")
    again = NUMBERS.filter(counted).snapshot(tmp_path / "kept").take(3)
    (tmp_path / "calls").unlink()
    assert elements(dataset) == elements(dataset) == list(range(5))
    assert elements(again) == [0, 1, 2]
    assert len((tmp_path / "calls").read_text()) == 10
    assert elements(NUMBERS.take(2).snapshot(tmp_path / "kept")) == [0, 1]


@pytest.mark.parametrize("compression", ["AUTO", "SNAPPY", "GZIP", None])
def test_a_snapshot_may_have_shards_and_an_order_of_its_own(tmp_path: Path, compression: str | None) -> None:
    dataset = NUMBERS.snapshot(
        tmp_path, compression, lambda shards: shards.flat_map(lambda shard: shard), lambda x: x % 2
    )
    assert elements(dataset) == list(range(10))
    assert elements(dataset) == [*range(0, 10, 2), *range(1, 10, 2)]


def test_a_pass_that_is_left_leaves_no_snapshot(tmp_path: Path) -> None:
    dataset = NUMBERS.snapshot(tmp_path)
    iterator = start(dataset)
    iterator.next()
    del iterator
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    with pytest.raises(UnimplementedError, match="not implemented for snapshot"):
        dataset.operator.plans()


@pytest.mark.parametrize("taken", [0, 1, 5, 10, 11, 15])
@pytest.mark.parametrize("lost", [False, True])
def test_a_snapshot_goes_on_where_it_stood(tmp_path: Path, taken: int, lost: bool) -> None:
    dataset = NUMBERS.shuffle(5).map(doubled).snapshot(tmp_path, shard_func=lambda e: e["n"] % 3).repeat(2)
    iterator, restored = start(dataset), start(dataset)
    for _ in range(taken):
        iterator.next()
    state = iterator.save()
    if lost and taken < 10:
        del iterator
        rest = None
    else:
        rest = drain(iterator)
    restored.load(state)
    found = drain(restored)
    assert len(found) == 20 - taken
    if rest is not None:
        assert found == rest
    # Where half a snapshot was lost, the next pass makes one.
    assert len(list(tmp_path.rglob("snapshot.metadata"))) == 1


def test_a_full_disk_costs_the_snapshot_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(RunWriter, "write", fail)
    assert drain(start(Dataset.range(3).snapshot(tmp_path))) == ["OSError", 1, 2]
    assert not list(tmp_path.rglob("snapshot.metadata"))


def test_in_a_bucket() -> None:
    where = f"memory://{uuid.uuid4().hex}/some/where"
    NUMBERS.save(where, shard_func=lambda n: n % 2)
    assert elements(Dataset.load(where)) == list(range(10))
    NUMBERS.take(4).map(doubled).save(where, "GZIP", shard_func=lambda element: element["n"] // 4)
    assert elements(Dataset.load(where, compression="GZIP").map(lambda element: element["n"])) == [0, 4, 2, 6]


def test_a_snapshot_in_a_bucket() -> None:
    calls: list[int] = []
    kept = NUMBERS.filter(lambda x: calls.append(int(x)) is None).snapshot(f"memory://{uuid.uuid4().hex}/some/where")
    assert elements(kept) == list(range(10))
    made = len(calls)
    assert elements(kept) == list(range(10))
    assert len(calls) == made


def test_a_save_into_a_bucket_goes_on_behind_its_last_checkpoint() -> None:
    where = f"memory://{uuid.uuid4().hex}"
    arguments = {"directory": f"{where}/checkpoints", "checkpoint_interval": 3}
    with pytest.raises(OSError, match="gone"):
        NUMBERS.filter(Failing(7)).save(f"{where}/kept", checkpoint_args=arguments)
    again = Failing(100)
    NUMBERS.filter(again).save(f"{where}/kept", checkpoint_args=arguments)
    assert 100 - again.left == 4
    assert elements(Dataset.load(f"{where}/kept")) == list(range(10))
    assert folders.folder_at(f"{where}/checkpoints").children() == []
