"""The lines of one text file, the inner part of ``TextLineDataset``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO

from tfsvc.data.ops.files import FileRecords


@dataclass(frozen=True, eq=False)
class TextLines(FileRecords):
    """The lines of a file without their ends."""

    name = "TextLineDataset"

    def read(self, file: IO[bytes]) -> bytes:
        return file.readline()

    def read_some(self, file: IO[bytes], limit: int) -> Sequence[bytes]:
        return list(islice(file, limit))

    def record(self, read: bytes) -> bytes:
        # TensorFlow drops every carriage return, not only the one before the line's end.
        return read.removesuffix(b"\n").replace(b"\r", b"")
