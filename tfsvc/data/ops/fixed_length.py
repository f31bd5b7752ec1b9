"""The records of one file of equal pieces, the inner part of ``FixedLengthRecordDataset``."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import IO

from tfsvc.data.ops.files import FileRecords
from tfsvc.errors import InvalidArgumentError


@dataclass(frozen=True, eq=False)
class FixedLengthRecords(FileRecords):
    """Pieces of ``record_bytes`` between a header and a footer.

    A compressed file is decompressed as a whole into memory, since its size must be known.
    """

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

    @property
    def start(self) -> int:
        return self.header_bytes

    def open(self) -> IO[bytes]:
        file = super().open()
        if self.compression:
            with file:
                file = io.BytesIO(file.read())
        size = file.seek(0, io.SEEK_END)
        body = size - self.header_bytes - self.footer_bytes
        if body < 0 or body % self.record_bytes:
            file.close()
            raise InvalidArgumentError(
                message=f"Excess bytes of {body} in {self.filename}: header {self.header_bytes}, "
                f"records of {self.record_bytes}, footer {self.footer_bytes}, file size {size}."
            )
        file.seek(0)
        return file

    def read(self, file: IO[bytes]) -> bytes:
        start = file.tell()
        read = file.read(self.record_bytes + self.footer_bytes)
        if len(read) < self.record_bytes + self.footer_bytes:
            return b""
        file.seek(start + self.record_bytes)
        return read[: self.record_bytes]
