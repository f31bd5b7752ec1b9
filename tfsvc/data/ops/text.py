"""The lines of one text file, the inner part of ``TextLineDataset``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from tfsvc.data.ops.files import FileRecords


@dataclass(frozen=True, eq=False)
class TextLines(FileRecords):
    """The lines of a file without their ends."""

    name = "TextLineDataset"

    def read(self, file: IO[bytes]) -> tuple[int, bytes] | None:
        line = file.readline()
        return (len(line), line) if line else None

    def element(self, record: bytes) -> bytes:
        # TensorFlow drops every carriage return, not only the one before the line's end.
        return record.removesuffix(b"\n").replace(b"\r", b"")
