"""A shelf in SQLite: one file in a directory, with one owner at a time."""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from tfsvc.errors import (
    FailedPreconditionError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnavailableError,
)
from tfsvc.wire.segments import damaged

T = TypeVar("T")

FILE: Final = "dispatcher.sqlite3"
VERSION: Final = 1
DELETED_AT_ONCE: Final = 256
"""How many objects go in one transaction, so that a put never waits long."""

_ERRORS: Final = (sqlite3.Error, ValueError)
"""``ValueError``: text of a damaged file may be none."""

_SCHEMA: Final = (
    "CREATE TABLE objects (name TEXT PRIMARY KEY, body BLOB NOT NULL)",
    # SQLite checks no page of its own: a damaged one could hide its last rows. This one says what must be there.
    "CREATE TABLE newest (name TEXT NOT NULL)",
    "INSERT INTO newest VALUES ('')",
    f"PRAGMA user_version={VERSION}",
)


class SqliteShelf:
    """Keeps objects in ``<directory>/dispatcher.sqlite3``.

    The file is locked for as long as the shelf is open, so that a second dispatcher cannot use it. The lock
    belongs to the process and ends with it: none is ever left behind, in a copy neither.

    Args:
      directory: where the file is.
      create: whether to make it where it is missing.

    Raises:
      FailedPreconditionError: if another process has it open, or it is of another version.
      NotFoundError: if it is not there and is not to be made.
      UnavailableError: if the directory cannot be used.
      DataLossError: if the file is damaged.
    """

    def __init__(self, directory: str, create: bool = True) -> None:
        self._directory = directory
        self._path = Path(directory) / FILE
        self._turn = threading.Lock()
        if not create and not self._path.exists():
            raise NotFoundError(message=f"there is no journal in {directory!r}: {FILE} is not there")
        try:
            if not self._path.exists():
                self._path.parent.mkdir(parents=True, exist_ok=True)
                _create(self._path)
            if not self._path.stat().st_size:
                raise damaged(self.where, "the file is empty")
            self._db = sqlite3.connect(self._path, timeout=0, isolation_level=None, check_same_thread=False)
        except (*_ERRORS, OSError) as error:
            raise UnavailableError(message=f"work_dir {directory!r} cannot be used: {error}") from error
        try:
            self._open()
        except _ERRORS as error:
            self._db.close()
            raise self._told(error) from error
        except OpError:
            self._db.close()
            raise
        self._inode = self._path.stat().st_ino

    @property
    def where(self) -> str:
        return str(self._path)

    def names(self) -> Sequence[str]:
        # In this order: an object may be put between the two.
        newest = self._column(str, "SELECT name FROM newest")
        found = self._column(str, "SELECT name FROM objects")
        if len(newest) != 1 or (newest[0] and newest[0] not in found):
            raise damaged(self.where, f"what was written last is missing: {', '.join(newest)}")
        return found

    def get(self, names: Sequence[str]) -> Iterator[bytes]:
        for name in names:
            bodies = self._column(bytes, "SELECT body FROM objects WHERE name = ?", name)
            if not bodies:
                raise NotFoundError(message=f"there is no object {name} in {self.where}")
            yield bodies[0]

    def put(self, name: str, body: bytes) -> bool:
        with self._turn:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                added = self._db.execute("INSERT OR IGNORE INTO objects VALUES (?, ?)", (name, body)).rowcount == 1
                if added:
                    self._db.execute("UPDATE newest SET name = ?", (name,))
                self._db.execute("COMMIT")
            except _ERRORS as error:
                with suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                raise self._told(error) from error
        return added

    def has(self, name: str) -> bool:
        try:
            inode = self._path.stat().st_ino
        except OSError:
            inode = None
        if inode != self._inode:
            raise UnavailableError(message=f"the journal {self._path} was removed or replaced while it was in use")
        return bool(self._column(int, "SELECT 1 FROM objects WHERE name = ?", name))

    def delete(self, names: Sequence[str]) -> None:
        for at in range(0, len(names), DELETED_AT_ONCE):
            some = [(name,) for name in names[at : at + DELETED_AT_ONCE]]
            with self._turn:
                try:
                    self._db.execute("BEGIN IMMEDIATE")
                    self._db.executemany("DELETE FROM objects WHERE name = ?", some)
                    self._db.execute("COMMIT")
                except _ERRORS as error:
                    with suppress(sqlite3.Error):
                        self._db.execute("ROLLBACK")
                    raise self._told(error) from error

    def close(self) -> None:
        with self._turn:
            self._db.close()

    def _column(self, kind: type[T], query: str, *values: str) -> list[T]:
        with self._turn:
            try:
                found = [value for (value,) in self._db.execute(query, values)]
            except _ERRORS as error:
                raise self._told(error) from error
        if not all(isinstance(value, kind) for value in found):
            raise damaged(self.where, f"something in it is not {kind.__name__}")
        return found

    def _open(self) -> None:
        # The lock is taken before anything is read, and kept until the shelf is closed.
        self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("BEGIN EXCLUSIVE")
        self._db.execute("COMMIT")
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if not version:
            raise damaged(self.where, "its head is not that of a journal")
        if version != VERSION:
            raise FailedPreconditionError(
                message=f"the journal {self._path} is of version {version}, and this is a dispatcher of version "
                f"{VERSION}. Use the one that wrote it, or an empty work_dir."
            )

    def _told(self, error: Exception) -> OpError:
        """What an error of SQLite's means for whoever runs the dispatcher."""
        where, text = f"work_dir {self._directory!r}", str(error)
        if "locked" in text:
            return FailedPreconditionError(
                message=f"another dispatcher is using {where}. Stop it first, or choose another directory."
            )
        if "full" in text:
            return ResourceExhaustedError(
                message=f"the disk of {where} is full: {error}. Make room and start the dispatcher again; whatever it "
                "had acknowledged is there."
            )
        if "readonly" in text:
            return PermissionDeniedError(message=f"{where} cannot be written: {error}")
        if isinstance(error, sqlite3.OperationalError | sqlite3.ProgrammingError):
            return UnavailableError(message=f"{where} cannot be used: {error}")
        return damaged(self.where, error)


def _create(path: Path) -> None:
    """Makes an empty shelf under another name first, so that a file cut down to nothing is not taken for a new one."""
    new = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        db = sqlite3.connect(new, isolation_level=None)
        for statement in _SCHEMA:
            db.execute(statement)
        db.close()
        with suppress(FileExistsError):
            os.link(new, path)
    finally:
        new.unlink(missing_ok=True)
    directory = os.open(path.parent, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
