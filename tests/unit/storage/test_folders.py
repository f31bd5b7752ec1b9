"""Folders: the same to whoever keeps datasets there, on a path and in a bucket."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tfsvc.errors import InvalidArgumentError, NotFoundError
from tfsvc.storage.bucket import Bucket
from tfsvc.storage.folders import Folder, absolute, folder_at, open_file

_buckets = itertools.count()


@pytest.fixture(params=["path", "file", "memory", "whole bucket"])
def url(request, tmp_path: Path) -> str:
    return {
        "path": f"{tmp_path}/it",
        "file": f"file://{tmp_path}/it",
        "memory": f"memory://folders{next(_buckets)}/some//where/it/",
        "whole bucket": f"memory://folders{next(_buckets)}",
    }[request.param]


@pytest.fixture
def folder(url: str) -> Folder:
    return folder_at(url)


def test_what_is_written_is_read(folder: Folder) -> None:
    with pytest.raises(NotFoundError):
        folder.read("a/b")
    assert not folder.has("a/b")
    folder.write("a/b", b"one")
    folder.write("a/b", b"two")
    assert folder.has("a/b")
    assert folder.read("a/b") == b"two"
    with open_file(folder.address("a/b")) as file:
        assert file.read() == b"two"


def test_a_folder_is_claimed_once(folder: Folder) -> None:
    assert folder.claim("owner", "me")
    assert folder.claim("owner", "me")
    assert not folder.claim("owner", "you")
    assert folder.read("owner") == b"me"


def test_a_folder_with_something_in_it_is_not_claimed(folder: Folder) -> None:
    folder.write("a/b", b"")
    assert not folder.claim("owner", "me")
    assert not folder.has("owner")


def test_a_file_is_moved_once(folder: Folder) -> None:
    folder.make("to")
    folder.write("from/a", b"body")
    for _ in range(2):
        folder.move("from/a", "to/b")
        assert (folder.has("from/a"), folder.read("to/b")) == (False, b"body")
    with pytest.raises(NotFoundError):
        folder.move("from/a", "to/c")


def test_a_file_is_shared(folder: Folder) -> None:
    folder.write("from/a", b"body")
    folder.share("from/a", "to/b")
    assert folder.read("from/a") == folder.read("to/b") == b"body"
    with pytest.raises(NotFoundError):
        folder.share("from/none", "to/c")


def test_children_and_removal(folder: Folder) -> None:
    for name in ("a/c", "a/b/d", "a/b/e", "ab"):
        folder.write(name, b"")
    assert folder.children("a") == ["a/b", "a/c"]
    assert folder.children("a/b") == ["a/b/d", "a/b/e"]
    assert folder.children("none") == []
    assert folder.children() == ["a", "ab"]
    for name in ("a/b", "a/c", "none"):
        folder.remove(name)
    assert folder.children("a") == []
    assert folder.has("ab")


def test_a_file_piece_by_piece(folder: Folder) -> None:
    body = bytes(range(256)) * 12_000
    file = folder.begin("a/b")
    for start in range(0, len(body), 1_000_000):
        file.write(body[start : start + 1_000_000])
    file.close()
    with open_file(folder.address("a/b")) as found:
        assert found.read(3) == body[:3]
        assert found.seek(2_500_000) == 2_500_000
        assert found.read(1_000) == body[2_500_000:2_501_000]
        assert found.read() == body[2_501_000:]
        assert found.read() == b""
        assert found.seek(0, 2) == len(body)


def test_what_is_abandoned_in_a_bucket_is_not_there() -> None:
    folder = folder_at(f"memory://folders{next(_buckets)}/it")
    file = folder.begin("a")
    file.write(b"x" * 100)
    file.abandon()
    assert not folder.has("a")


def test_a_file_that_is_not_there(folder: Folder) -> None:
    with pytest.raises(NotFoundError, match="none; No such file or directory"):
        open_file(folder.address("none"))


def test_a_bucket_is_claimed_by_one_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"memory://folders{next(_buckets)}/it"
    names = Bucket.names

    def overtaken(bucket: Bucket, below: str = "") -> list[str]:
        found = names(bucket, below)
        bucket.put("it/owner", b"you")
        return found

    monkeypatch.setattr(Bucket, "names", overtaken)
    assert not folder_at(url).claim("owner", "me")


def test_names_for_all_machines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute("a/../b") == str(tmp_path / "b")
    assert absolute("file:///a/b") == "/a/b"
    assert absolute("s3://bucket/a/") == "s3://bucket/a"
    with pytest.raises(InvalidArgumentError, match="'hdfs://host' is of no kind that is known"):
        folder_at("hdfs://host/a")
