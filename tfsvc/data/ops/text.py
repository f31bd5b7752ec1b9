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

    def read(self, file: IO[bytes]) -> tuple[int, bytes] | None:
        line = file.readline()
        return (len(line), line) if line else None

    def read_several(self, file: IO[bytes], limit: int) -> tuple[int, Sequence[bytes]]:
        # The same as `element` of each line, in a few calls for all of them.
        text = b"".join(islice(file, limit))
        if not text:
            return 0, ()
        lines = text.replace(b"\r", b"").split(b"\n")
        return len(text), lines[:-1] if text.endswith(b"\n") else lines

    def element(self, record: bytes) -> bytes:
        # TensorFlow drops every carriage return, not only the one before the line's end.
        return record.removesuffix(b"\n").replace(b"\r", b"")
