"""cache: in memory and in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data import Dataset
from tfsvc.errors import DataLossError, InvalidArgumentError, NotFoundError
from tfsvc.storage.frame_files import FrameFileWriter


class Counting:
    """Doubles numbers, and counts how often."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        return {"n": 2 * x, "s": np.array(["a", "bc"])}


def test_a_second_pass_reads_what_the_first_kept() -> None:
    function = Counting()
    dataset = Dataset.range(3).map(function).cache()
    one, two = elements(dataset), elements(dataset)
    assert one == two == [{"n": n, "s": [b"a", b"bc"]} for n in (0, 2, 4)]
    assert elements(dataset.batch(3).map(lambda e: e["n"])) == [[0, 2, 4]]
    assert function.calls == 3


def test_a_pass_that_is_left_keeps_nothing() -> None:
    function = Counting()
    dataset = Dataset.range(3).map(function).cache()
    next(iter(dataset))
    next(iter(dataset))
    assert function.calls == 2


def test_a_cached_shuffle_has_one_order() -> None:
    cached = Dataset.range(20).shuffle(20).cache().repeat(2)
    numbers = elements(cached)
    assert numbers[:20] == numbers[20:]


@pytest.mark.parametrize("taken", [0, 2, 3, 5])
def test_a_cache_is_saved_with_its_reader(taken: int, tmp_path: Path) -> None:
    for filename in ("", str(tmp_path / f"cache{taken}")):
        dataset = Dataset.range(10).shuffle(10).take(3).cache(filename).repeat(2)
        iterator = start(dataset)
        for _ in range(taken):
            iterator.next()
        state = iterator.save()
        restored = start(dataset)
        restored.load(state)
        assert drain(restored) == drain(iterator)


def test_a_file_outlives_the_dataset(tmp_path: Path) -> None:
    name = str(tmp_path / "kept")
    function = Counting()
    first = elements(Dataset.range(3).map(function).cache(name))
    calls = function.calls
    assert elements(Dataset.range(3).map(function).cache(name)) == first
    assert function.calls == calls
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_pass_that_is_left_leaves_no_file(tmp_path: Path) -> None:
    iterator = start(Dataset.range(3).cache(str(tmp_path / "kept")))
    iterator.next()
    del iterator
    assert list(tmp_path.iterdir()) == []


def test_a_lost_half_cache_costs_only_the_cache(tmp_path: Path) -> None:
    dataset = Dataset.range(3).cache(str(tmp_path / "kept"))
    iterator = start(dataset)
    iterator.next()
    state = iterator.save()
    del iterator
    restored = start(dataset)
    restored.load(state)
    assert drain(restored) == [1, 2]
    assert list(tmp_path.iterdir()) == []


def test_a_reader_says_when_its_file_is_gone(tmp_path: Path) -> None:
    name = tmp_path / "kept"
    dataset = Dataset.range(3).cache(str(name))
    assert elements(dataset) == [0, 1, 2]
    iterator = start(dataset)
    iterator.next()
    state = iterator.save()
    name.unlink()
    restored = start(dataset)
    restored.load(state)
    with pytest.raises(NotFoundError, match="is gone"):
        restored.next()


def test_a_cache_is_kept_and_read_in_columns(tmp_path: Path) -> None:
    dataset = Dataset.from_tensor_slices(np.arange(10)).cache(str(tmp_path / "kept"))
    for _ in range(2):
        iterator = start(dataset)
        block = iterator.block(4)
        assert block is not None
        assert block.leaves[0].tolist() == [0, 1, 2, 3]  # type: ignore[union-attr]
        assert iterator.next() == 4
        restored = start(dataset)
        restored.load(iterator.save())
        assert drain(restored) == drain(iterator) == [5, 6, 7, 8, 9]
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_cache_file_that_is_wrong(tmp_path: Path) -> None:
    name = tmp_path / "kept"
    assert elements(Dataset.range(3).cache(str(name))) == [0, 1, 2]
    with pytest.raises(InvalidArgumentError, match="a file of its own"):
        list(Dataset.from_tensors("text").cache(str(name)))
    for damaged in (name.read_bytes()[:-1], b"abc", b"\xff" * 20):
        name.write_bytes(damaged)
        with pytest.raises(DataLossError, match="delete it"):
            list(Dataset.range(3).cache(str(name)))
    with pytest.raises(NotFoundError, match="make the folder"):
        list(Dataset.range(3).cache(str(tmp_path / "no" / "folder")))


def test_a_full_disk_costs_the_cache_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(writer: Any, columns: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(FrameFileWriter, "write", fail)
    assert drain(start(Dataset.range(3).cache(str(tmp_path / "kept")))) == ["OSError", 1, 2]
    assert list(tmp_path.iterdir()) == []
