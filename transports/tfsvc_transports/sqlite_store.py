"""A store of records in SQLite: one file in a directory, with one owner at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tfsvc.errors import DataLossError, FailedPreconditionError, OpError, UnavailableError
from tfsvc.protocol.updates import Update
from tfsvc.wire.messages import UPDATES, decode, encode

FILE: Final = "dispatcher.sqlite3"
_KINDS: Final = {kind.__name__: kind for kind in UPDATES}


class SqliteStore:
    """Keeps records in ``<directory>/dispatcher.sqlite3``, each durable once ``write`` returns.

    The file is locked for as long as the store is open, so a second dispatcher cannot use it.

    Args:
      directory: where the file is, or is made.

    Raises:
      FailedPreconditionError: if another process has the store open.
      UnavailableError: if the directory cannot be written.
      DataLossError: if the file is damaged.
    """

    def __init__(self, directory: str) -> None:
        path = Path(directory) / FILE
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        except (sqlite3.Error, OSError) as error:
            raise UnavailableError(message=f"work_dir {directory!r} cannot be used: {error}") from error
        try:
            self._open()
        except sqlite3.Error as error:
            self._db.close()
            raise _refused(directory, path, error) from error
        self._path = path

    def read(self) -> Sequence[Update]:
        """All records, in order.

        Raises:
          DataLossError: if one of them cannot be read.
        """
        try:
            rows = self._db.execute("SELECT kind, body FROM records ORDER BY number").fetchall()
        except sqlite3.DatabaseError as error:
            raise _damaged(self._path, error) from error
        unknown = next((kind for kind, _ in rows if kind not in _KINDS), None)
        if unknown is not None:
            raise _damaged(self._path, f"this version knows no record of kind {unknown!r}")
        return [decode(_KINDS[kind], body) for kind, body in rows]

    def write(self, updates: Sequence[Update]) -> None:
        """Adds records in one transaction."""
        rows = [(type(update).__name__, encode(update)) for update in updates]
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self._db.executemany("INSERT INTO records (kind, body) VALUES (?, ?)", rows)
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Lets another dispatcher have the file."""
        self._db.close()

    def _open(self) -> None:
        # The lock is taken before anything is read, and kept until the store is closed.
        self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("BEGIN EXCLUSIVE")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS records (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, body BLOB NOT NULL)"
        )
        self._db.execute("COMMIT")


def _refused(directory: str, path: Path, error: sqlite3.Error) -> OpError:
    if "locked" in str(error):
        return FailedPreconditionError(
            message=f"another dispatcher is using work_dir {directory!r}. Stop it first, or choose another directory."
        )
    if isinstance(error, sqlite3.OperationalError):
        return UnavailableError(message=f"work_dir {directory!r} cannot be used: {error}")
    return _damaged(path, error)


def _damaged(path: Path, why: object) -> DataLossError:
    return DataLossError(
        message=f"the journal {path} cannot be read: {why}. Restore it from a copy, or start with an empty work_dir; "
        "readers then begin anew."
    )
