"""The records of one TFRecord file, the inner part of ``TFRecordDataset``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from tfsvc.data.ops.files import BLOCK_BYTES_MAX, FileRecords
from tfsvc.storage.records import FRAME_BYTES, read_record


@dataclass(frozen=True, eq=False)
class TFRecords(FileRecords):
    """The data of each record, both its checksums verified."""

    name = "TFRecordDataset"

    def read(self, file: IO[bytes]) -> tuple[int, bytes] | None:
        data = read_record(file, self.filename)
        return None if data is None else (FRAME_BYTES + len(data), data)

    def read_several(self, file: IO[bytes], limit: int) -> tuple[int, Sequence[bytes]]:
        found: list[bytes] = []
        size = 0
        while len(found) < limit and size < BLOCK_BYTES_MAX:
            data = read_record(file, self.filename)
            if data is None:
                break
            found.append(data)
            size += FRAME_BYTES + len(data)
        return size, found
