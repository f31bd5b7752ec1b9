"""``Dataset.from_webdataset``: samples of tar shards, in turn and by an index."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.data.helpers import drain, elements, start
from tfsvc.data import Dataset
from tfsvc.data.experimental import index_webdataset
from tfsvc.errors import DataLossError, InvalidArgumentError, NotFoundError
from tfsvc.protocol.splits import Lease, Span, SplitFeed, SplitPlan
from tfsvc.specs import TensorSpec
from tfsvc.storage.bucket import Bucket
from tfsvc.storage.tar_shards import _head

FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}
Files = list[tuple[str, bytes]]


def tar(files: Files, kind: int = tarfile.GNU_FORMAT) -> bytes:
    """A shard of these files; a name that ends with a slash is a directory."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=kind) as shard:
        for name, body in files:
            info = tarfile.TarInfo(name.rstrip("/"))
            info.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            info.size = len(body)
            shard.addfile(info, io.BytesIO(body))
    return buffer.getvalue()


def plain_files(count: int, first: int = 0) -> Files:
    return [
        (f"{i:03}.{field}", f"{field} {i} ".encode() * (i % 4 * 200))
        for i in range(first, first + count)
        for field in ("cls", "seg.png")
    ]


def expected(files: Files) -> list[dict[str, bytes]]:
    bodies = dict(files)
    keys = dict.fromkeys(name.partition(".")[0] for name in bodies)
    return [{"__key__": key.encode(), "cls": bodies[f"{key}.cls"], "seg.png": bodies[f"{key}.seg.png"]} for key in keys]


@pytest.fixture
def shards(tmp_path: Path) -> list[str]:
    """Three shards of 4, 0 and 3 samples."""
    for number, files in enumerate((plain_files(4), [], plain_files(3, 4))):
        (tmp_path / f"{number}.tar").write_bytes(tar(files))
    return [str(tmp_path / f"{number}.tar") for number in range(3)]


ALL = expected(plain_files(7))


@pytest.mark.parametrize("indexed", [False, True])
def test_samples_come_in_order_and_go_on_anywhere(shards: list[str], indexed: bool) -> None:
    assert index_webdataset(shards) == [4, 0, 3]
    dataset = Dataset.from_webdataset(shards, indexed=indexed)
    assert dataset.element_spec == dict.fromkeys(("__key__", "cls", "seg.png"), TensorSpec((), "string"))
    assert dataset.cardinality() == (7 if indexed else -2)
    assert elements(dataset) == ALL
    assert elements(dataset.batch(3).unbatch()) == ALL
    for cut in range(8):
        iterator = iter(dataset)
        before = [next(iterator) for _ in range(cut)]
        again = iter(dataset)
        again.load_state_dict(iterator.state_dict())
        assert before + list(again) == ALL


def test_a_split_is_a_shard_or_a_sample(shards: list[str]) -> None:
    index_webdataset(shards)
    assert Dataset.from_webdataset(shards).operator.plans() == (SplitPlan(3),)
    indexed = Dataset.from_webdataset(shards, indexed=True)
    assert indexed.operator.plans() == (SplitPlan(7),)
    feed = SplitFeed(0)
    feed.add(Lease(0, feed.at, (Span(5, 7), Span(0, 1)), ended=True))
    assert drain(start(indexed, feed)) == [ALL[5], ALL[6], ALL[0]]


def test_a_shuffle_reads_nothing_ahead(shards: list[str]) -> None:
    index_webdataset(shards)
    dataset = Dataset.from_webdataset(shards, indexed=True).shuffle(7, seed=1)
    whole = elements(dataset)
    assert sorted(whole, key=lambda e: e["__key__"]) == ALL != whole


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_of_tar(tmp_path: Path, kind: str) -> None:
    long = "folder/" * 12 + "x" * 90
    names = ["a.b/1.x", f"{long}.x", "über/ü.x"]
    files = [("a.b/", b""), *((name, name.encode()) for name in names), ("a.b/.hidden", b"no"), ("README", b"no")]
    (tmp_path / "s.tar").write_bytes(tar(files, FORMATS[kind]))
    assert index_webdataset(tmp_path / "s.tar") == [3]
    for indexed in (False, True):
        got = elements(Dataset.from_webdataset(str(tmp_path / "s.tar"), indexed=indexed))
        assert got == [{"__key__": name.removesuffix(".x").encode(), "x": name.encode()} for name in names]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.binary(max_size=1500)), min_size=1, max_size=8),
    st.sampled_from(sorted(FORMATS)),
)
def test_neighbours_of_one_key_are_one_sample(
    tmp_path_factory: Any, bodies: list[tuple[str, bytes]], kind: str
) -> None:
    files = [(f"{number}.{field}", body) for number, (field, body) in enumerate(bodies)]
    path = tmp_path_factory.mktemp("tar") / "s.tar"
    path.write_bytes(tar(files, FORMATS[kind]))
    for field in "abc":
        got = drain(start(Dataset.from_webdataset(str(path), [field])))
        assert got == [
            {"__key__": b"%d" % number, field: body} if field == own else "InvalidArgumentError"
            for number, (own, body) in enumerate(bodies)
        ]


def test_a_sample_without_a_field_is_all_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "s.tar").write_bytes(tar([("1.a", b"1"), ("2.b", b"2"), ("3.a", b"3"), ("3.b", b"more")]))
    index_webdataset(tmp_path / "s.tar")
    for indexed in (False, True):
        iterator = iter(Dataset.from_webdataset(tmp_path / "s.tar", ["a"], indexed=indexed))
        assert next(iterator) == {"__key__": b"1", "a": b"1"}
        with pytest.raises(InvalidArgumentError, match=r"'2' in .*s.tar has no field 'a'; it has \['b'\]"):
            next(iterator)
        assert next(iterator) == {"__key__": b"3", "a": b"3"}


def test_compressed_shards(tmp_path: Path) -> None:
    path = tmp_path / "s.tar.gz"
    path.write_bytes(gzip.compress(tar(plain_files(7))))
    dataset = Dataset.from_webdataset(path, compression_type="GZIP")
    assert elements(dataset) == ALL
    iterator = iter(dataset)
    before = [next(iterator) for _ in range(5)]
    again = iter(dataset)
    again.load_state_dict(iterator.state_dict())
    assert before + list(again) == ALL
    with pytest.raises(InvalidArgumentError, match="compressed shards have no index"):
        Dataset.from_webdataset(path, compression_type="GZIP", indexed=True)


def test_shards_in_a_bucket() -> None:
    Bucket("memory://shards").put("deep/0.tar", tar(plain_files(7)))
    assert index_webdataset("memory://shards/deep/0.tar") == [7]
    for indexed in (False, True):
        assert elements(Dataset.from_webdataset("memory://shards/deep/0.tar", indexed=indexed)) == ALL


def test_damage_is_told(tmp_path: Path) -> None:
    whole = tar(plain_files(7))
    path = tmp_path / "s.tar"
    for end in (100, 700, 5000):
        path.write_bytes(whole[:end])
        with pytest.raises(DataLossError, match=r"s\.tar (ends within|is no whole tar file)"):
            list(Dataset.from_webdataset(path, ["cls"]))
    path.write_bytes(tar([("1.a", b"1"), ("1.a", b"2")]))
    with pytest.raises(DataLossError, match=r"has 1\.a twice in one sample"):
        list(Dataset.from_webdataset(path, ["a"]))
    path.write_bytes(b"no tar at all" * 100)
    with pytest.raises(DataLossError, match="is no whole tar file"):
        Dataset.from_webdataset(path)


def test_what_is_wrong_with_an_index_is_told(tmp_path: Path) -> None:
    path = tmp_path / "s.tar"
    path.write_bytes(tar(plain_files(2)))
    with pytest.raises(NotFoundError, match=r"has no index; make it with tf\.data\.experimental\.index_webdataset"):
        Dataset.from_webdataset(path, indexed=True)
    index = tmp_path / "s.idx"
    index_webdataset(path)
    good = index.read_text()
    assert good.splitlines()[0] == "v1.2 2"
    index.write_text("v9 2\n")
    with pytest.raises(DataLossError, match=r"no index of version v1\.2"):
        Dataset.from_webdataset(path, indexed=True)
    for damaged in ("v1.2 3\n" + good.partition("\n")[2], "v1.2 1\ncls x 3\n", "v1.2 1\ncls 512 99999 000.cls\n"):
        index.write_text(damaged)
        with pytest.raises(DataLossError, match=r"s\.(idx|tar)"):
            list(Dataset.from_webdataset(path, ["cls"], indexed=True))
    path.write_bytes(tar([("a b.x", b"1")]))
    with pytest.raises(InvalidArgumentError, match="'a b', whose name no index can hold"):
        index_webdataset(path)


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="there are no shards"):
        Dataset.from_webdataset([])
    with pytest.raises(NotFoundError, match="nowhere"):
        Dataset.from_webdataset(tmp_path / "nowhere.tar")
    (tmp_path / "empty.tar").write_bytes(tar([]))
    with pytest.raises(InvalidArgumentError, match="give `fields`"):
        Dataset.from_webdataset(tmp_path / "empty.tar")


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1, max_size=24),
    st.integers(0, 2**40),
    st.booleans(),
)
def test_a_head_is_read_as_tarfile_reads_it(name: str, size: int, in_folder: bool) -> None:
    info = tarfile.TarInfo("/".join(["folder"] * 20 + [name]) if in_folder else name)
    info.size = size
    for kind in ("ustar", "gnu"):
        try:
            block = info.tobuf(FORMATS[kind], "utf-8", "surrogateescape")[-512:]
        except ValueError:  # too long, or too large, for this format
            continue
        theirs = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        assert _head(block) == (theirs.name, theirs.size, theirs.type)
