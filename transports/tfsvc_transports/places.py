"""Places for a journal: what a ``work_dir`` stands for."""

from __future__ import annotations

from tfsvc.protocol.dispatcher.history import shorten
from tfsvc_transports.bucket import BucketShelf
from tfsvc_transports.journal import GroupJournal
from tfsvc_transports.segment_store import SegmentStore
from tfsvc_transports.shelf import Shelf
from tfsvc_transports.sqlite_shelf import SqliteShelf


def open_shelf(work_dir: str, create: bool = True) -> Shelf:
    """A bucket for a URL, SQLite in a directory for a path.

    Args:
      create: whether to make the directory and the file where they are missing.

    Raises:
      OpError: if it cannot be used.
    """
    return BucketShelf(work_dir) if "://" in work_dir else SqliteShelf(work_dir, create)


def open_journal(work_dir: str) -> GroupJournal:
    """The journal of a dispatcher.

    Raises:
      OpError: if its place cannot be used.
    """
    return GroupJournal(SegmentStore(open_shelf(work_dir), shorten))
