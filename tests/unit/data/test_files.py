"""Lists of files and lines of text."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data import Dataset, TextLineDataset
from tfsvc.data.ops.text import TextLines
from tfsvc.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from tfsvc.protocol.splits import SplitPlan
from tfsvc.specs import TensorSpec


@pytest.fixture
def names(tmp_path: Path) -> list[str]:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\r\n\nfour")
    (tmp_path / "b.txt").write_bytes(b"")
    (tmp_path / "c.txt").write_bytes(b"five\n")
    return [str(tmp_path / f"{name}.txt") for name in "abc"]


def test_lines_come_without_their_ends(names: list[str]) -> None:
    dataset = TextLineDataset(names)
    assert elements(dataset) == [b"one", b"two", b"", b"four", b"five"]
    assert dataset.element_spec == TensorSpec((), "string")


def test_a_split_is_a_file(names: list[str]) -> None:
    assert TextLineDataset(names).operator.plans() == (SplitPlan(3),)
    assert TextLineDataset(names[0]).operator.plans() == (SplitPlan(1),)
    assert elements(TextLineDataset([])) == []


def test_files_in_turns(names: list[str]) -> None:
    assert elements(TextLineDataset(names, num_parallel_reads=3)) == [b"one", b"five", b"two", b"", b"four"]


def test_names_may_come_from_a_dataset(names: list[str]) -> None:
    assert elements(TextLineDataset(Dataset.from_tensor_slices(names[::-1])).take(2)) == [b"five", b"one"]


@pytest.mark.parametrize(("kind", "compress"), [("GZIP", gzip.compress), ("ZLIB", zlib.compress)])
def test_compressed_lines(tmp_path: Path, kind: str, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "z"
    path.write_bytes(compress(b"a\nb\nc\n"))
    iterator = start(TextLineDataset(str(path), kind))
    assert iterator.next() == b"a"
    restored = start(TextLineDataset(str(path), kind))
    restored.load(iterator.save())
    assert drain(restored) == [b"b", b"c"]
    path.write_bytes(compress(b"a\nb\nc\n")[:-9])
    with pytest.raises(DataLossError):
        list(TextLineDataset(str(path), kind))


def test_lines_go_on_in_the_middle_of_a_file(names: list[str]) -> None:
    iterator = start(TextLineDataset(names))
    iterator.next(), iterator.next()
    restored = start(TextLineDataset(names))
    restored.load(iterator.save())
    assert drain(restored) == [b"", b"four", b"five"]


def test_missing_files_and_unknown_compression(names: list[str]) -> None:
    with pytest.raises(NotFoundError, match="/no/such"):
        next(iter(TextLineDataset("/no/such")))
    with pytest.raises(InvalidArgumentError, match="Unsupported compression_type"):
        next(iter(TextLineDataset(names, "RAR")))


def test_a_spec_needs_no_file() -> None:
    assert TextLineDataset("/no/such").map(lambda line: line.split()[:0] or "x").element_spec == TensorSpec(
        (), "string"
    )


def test_the_lines_of_one_file_cannot_be_split(names: list[str]) -> None:
    with pytest.raises(UnimplementedError, match="use TextLineDataset"):
        TextLines(names[0]).plans()


def test_the_list_of_files_is_frozen(names: list[str], tmp_path: Path) -> None:
    dataset = Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False)
    (tmp_path / "d.txt").touch()
    assert elements(dataset) == [name.encode() for name in names]
    assert dataset.operator.plans() == (SplitPlan(3),)


def test_files_come_in_random_order_unless_told(names: list[str], tmp_path: Path) -> None:
    patterns = [str(tmp_path / "[ab].txt"), str(tmp_path / "c*")]
    orders = {tuple(elements(Dataset.list_files(patterns, seed=seed))) for seed in range(20)}
    assert len(orders) > 1
    assert {tuple(sorted(order)) for order in orders} == {tuple(name.encode() for name in names)}
    with pytest.raises(InvalidArgumentError, match="No files matched pattern"):
        Dataset.list_files(str(tmp_path / "*.csv"))


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.txt", [".h.txt", "a.txt", "b.txt", "c*.txt", "d[1].txt"]),
        ("?.txt", ["a.txt", "b.txt"]),
        ("[!a-b]*.txt", [".h.txt", "c*.txt", "d[1].txt"]),
        ("[^]]*1*", ["d[1].txt"]),
        ("c\\*.txt", ["c*.txt"]),
        ("d[[]1].txt", ["d[1].txt"]),
        ("**/?.txt", ["sub/a.txt"]),
        ("sub/../a.*", ["sub/../a.txt"]),
        ("su[b", []),
        ("a.txt/*", []),
        ("", []),
    ],
)
def test_patterns_mean_what_they_mean_to_tensorflow(tmp_path: Path, pattern: str, found: list[str]) -> None:
    for name in (".h.txt", "a.txt", "b.txt", "c*.txt", "d[1].txt", "sub/a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    if not pattern or not found:
        with pytest.raises(InvalidArgumentError, match="No files matched pattern: "):
            Dataset.list_files(pattern and str(tmp_path / pattern))
        return
    names = elements(Dataset.list_files(str(tmp_path / pattern), shuffle=False))
    assert names == [os.fsencode(tmp_path) + b"/" + name.encode() for name in found]


def test_a_pattern_without_meaning_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="no pattern for names"):
        Dataset.list_files("/[z-a]")
