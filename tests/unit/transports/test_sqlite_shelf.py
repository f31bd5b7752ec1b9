"""A shelf in SQLite: one owner, every damage told, and no file that may be cut without being missed."""

from __future__ import annotations

import shutil
import sqlite3

import pytest

from tests.unit.updates import UPDATES
from tfsvc.errors import (
    DataLossError,
    FailedPreconditionError,
    NotFoundError,
    OpError,
    ResourceExhaustedError,
    UnavailableError,
)
from tfsvc_transports.segment_store import SegmentStore, read_journal
from tfsvc_transports.sqlite_shelf import FILE, SqliteShelf

GROUPS = [UPDATES[:1], UPDATES[1:4], UPDATES[4:5], UPDATES[5:]]
PREFIXES = [[update for group in GROUPS[:n] for update in group] for n in range(len(GROUPS) + 1)]


@pytest.fixture
def crashed(tmp_path):
    """The directory of a dispatcher that was killed: the file, and what of it was in the log beside it."""
    store = SegmentStore(SqliteShelf(str(tmp_path / "work")))
    store.read()
    for group in GROUPS:
        store.write(group)
    shutil.copytree(tmp_path / "work", tmp_path / "crashed")
    store.close()
    return tmp_path / "crashed"


@pytest.fixture
def closed(crashed):
    """The directory of one that ended in good order: one file."""
    SqliteShelf(str(crashed)).close()
    assert [path.name for path in crashed.iterdir()] == [FILE]
    return crashed


def recovered(directory):
    """What a dispatcher would begin with, or the error that it would not begin with."""
    try:
        shelf = SqliteShelf(str(directory))
    except OpError as error:
        return error
    try:
        return read_journal(shelf).updates
    except OpError as error:
        return error
    finally:
        shelf.close()


def test_a_second_owner_is_refused(tmp_path):
    shelf = SqliteShelf(str(tmp_path))
    with pytest.raises(FailedPreconditionError, match="another dispatcher is using work_dir"):
        SqliteShelf(str(tmp_path))
    shelf.close()
    SqliteShelf(str(tmp_path)).close()


def test_a_copy_of_the_directory_is_a_journal_elsewhere(crashed):
    assert recovered(crashed) == PREFIXES[-1]


def test_a_directory_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError, match="cannot be used"):
        SqliteShelf(str(tmp_path / "file" / "below"))


def test_a_file_that_is_missing_is_made_only_where_it_should_be(tmp_path):
    with pytest.raises(NotFoundError, match="there is no journal in"):
        SqliteShelf(str(tmp_path), create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_version_is_told(tmp_path):
    SqliteShelf(str(tmp_path)).close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(FailedPreconditionError, match="is of version 99"):
        SqliteShelf(str(tmp_path))


def test_a_file_that_is_taken_away_is_noticed(tmp_path):
    store = SegmentStore(SqliteShelf(str(tmp_path)))
    store.read()
    store.check()
    (tmp_path / FILE).unlink()
    with pytest.raises(UnavailableError, match="was removed or replaced while it was in use"):
        store.check()
    store.close()


def test_a_full_disk_is_told_and_keeps_what_was_acknowledged(tmp_path):
    shelf = SqliteShelf(str(tmp_path))
    store = SegmentStore(shelf)
    store.read()
    store.write(GROUPS[0])
    (pages,) = shelf._db.execute("PRAGMA page_count").fetchone()
    shelf._db.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(ResourceExhaustedError, match="Make room and start the dispatcher again"):
        store.write([UPDATES[-1]] * 1000)
    store.close()
    assert recovered(tmp_path) == PREFIXES[1]


def test_a_log_cut_at_any_byte_gives_a_prefix(crashed, tmp_path):
    """SQLite's log ends where it was not synced; what is behind the last whole group was never acknowledged."""
    log = crashed / f"{FILE}-wal"
    whole = log.read_bytes()
    seen = []
    for size in [*range(0, len(whole), 409), *range(len(whole) - 9, len(whole) + 1)]:
        log.write_bytes(whole[:size])
        copy = tmp_path / "cut"
        shutil.copytree(crashed, copy)
        seen.append(recovered(copy))
        shutil.rmtree(copy)
    assert all(records in PREFIXES for records in seen)
    assert [PREFIXES.index(records) for records in seen] == sorted(PREFIXES.index(records) for records in seen)
    assert seen[-1] == PREFIXES[-1]
    assert [] in seen


def test_a_log_with_a_bit_changed_gives_a_prefix(crashed, tmp_path):
    log = crashed / f"{FILE}-wal"
    whole = log.read_bytes()
    for at in range(0, len(whole), 809):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        log.write_bytes(changed)
        copy = tmp_path / "cut"
        shutil.copytree(crashed, copy)
        assert recovered(copy) in PREFIXES
        shutil.rmtree(copy)


def test_a_file_cut_at_any_byte_is_refused(closed):
    file = closed / FILE
    whole = file.read_bytes()
    for size in [*range(200), *range(200, len(whole), 101), *range(len(whole) - 20, len(whole))]:
        file.write_bytes(whole[:size])
        assert isinstance(recovered(closed), DataLossError), size


def test_a_file_with_a_bit_changed_gives_all_or_is_refused(closed):
    file = closed / FILE
    whole = file.read_bytes()
    refused = 0
    for at in range(0, len(whole), 19):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        file.write_bytes(changed)
        found = recovered(closed)
        assert isinstance(found, OpError) or found == PREFIXES[-1], at
        refused += isinstance(found, OpError)
        for beside in closed.iterdir():
            beside.unlink()
    assert refused
