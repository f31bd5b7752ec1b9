"""The records of one file of equal pieces, the inner part of ``FixedLengthRecordDataset``."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import IO, Any

from tfsvc.data.ops.files import FileRecords, Opened
from tfsvc.errors import DataLossError, InvalidArgumentError


@dataclass(frozen=True, eq=False)
class FixedLengthRecords(FileRecords):
    """Pieces of ``record_bytes`` between a header and a footer."""

    record_bytes: int = 1
    header_bytes: int = 0
    footer_bytes: int = 0
    name = "FixedLengthRecordDataset"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.record_bytes <= 0:
            raise InvalidArgumentError(message="record_bytes must be > 0")
        if self.header_bytes < 0 or self.footer_bytes < 0:
            raise InvalidArgumentError(message="header_bytes and footer_bytes must be >= 0")

    def open(self, offset: int) -> Opened:
        file, offset, _ = super().open(offset or self.header_bytes)
        # The size of a compressed file shows at its end only.
        if not self.compression:
            size = file.seek(0, io.SEEK_END)
            file.seek(offset)
            body_bytes = size - self.header_bytes - self.footer_bytes
            if body_bytes < 0 or body_bytes % self.record_bytes:
                file.close()
                raise InvalidArgumentError(message=self._misfit(f"a size of {size} bytes"))
        body = _Body(file, self.footer_bytes)
        if body.is_torn:
            file.close()
            raise DataLossError(message=self._misfit("fewer bytes"))
        return Opened(io.BufferedReader(body), offset)

    def read(self, file: IO[bytes]) -> tuple[int, bytes] | None:
        record = file.read(self.record_bytes)
        if len(record) < self.record_bytes and record:
            raise DataLossError(message=self._misfit(f"{len(record)} bytes in the place of its last record"))
        return (len(record), record) if record else None

    def _misfit(self, what: str) -> str:
        return (
            f"{self.filename} has {what}, but it should have a header of {self.header_bytes} bytes, "
            f"records of {self.record_bytes} bytes and a footer of {self.footer_bytes} bytes"
        )


class _Body(io.RawIOBase):
    """What a file has from its place on, but for the last ``footer_bytes``.

    Attributes:
      is_torn: whether there is no whole footer.
    """

    def __init__(self, file: IO[bytes], footer_bytes: int) -> None:
        self._file = file
        self._held = file.read(footer_bytes)
        self.is_torn = len(self._held) < footer_bytes

    def readinto(self, buffer: Any) -> int:
        found = self._file.read(len(buffer))
        held = self._held + found
        buffer[: len(found)], self._held = held[: len(found)], held[len(found) :]
        return len(found)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()
