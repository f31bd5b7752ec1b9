"""Files of frames: columns of elements, one frame after the other, as a cache keeps them.

Each frame (:mod:`tfsvc.wire.frames`) stands behind its length as a little-endian u64.
"""

from __future__ import annotations

import os
import shutil
import struct
from pathlib import Path
from typing import IO

from tfsvc.columns import Columns
from tfsvc.errors import DataLossError, NotFoundError
from tfsvc.wire.errors import WireError
from tfsvc.wire.frames import decode_frame, encode_frame

_LENGTH = struct.Struct("<Q")


class FrameFileWriter:
    """Writes frames to a file, which counts for nothing until it is renamed by :meth:`publish`.

    Args:
      path: the file; what it held before is lost.

    Raises:
      NotFoundError: if its folder does not exist.

    Attributes:
      size: bytes written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = path.open("wb")
        except FileNotFoundError as error:
            raise NotFoundError(message=f"{path.parent} does not exist; make the folder first") from error
        self.size = 0

    @staticmethod
    def copied(path: Path, source: Path, size: int) -> FrameFileWriter:
        """A new file that begins with the first ``size`` bytes of another."""
        writer = FrameFileWriter(path)
        with source.open("rb") as file:
            shutil.copyfileobj(file, writer._file)
        writer._file.truncate(size)
        writer._file.seek(size)
        writer.size = size
        return writer

    def write(self, columns: Columns) -> None:
        """Appends a frame."""
        frame = encode_frame(columns)
        self._file.write(_LENGTH.pack(len(frame)) + frame)
        self.size += _LENGTH.size + len(frame)

    def flush(self) -> None:
        """Lets others read what was written."""
        self._file.flush()

    def publish(self, name: Path) -> None:
        """Gives the whole file its name; a crash leaves it under that name or not there at all."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self.path.replace(name)

    def abandon(self) -> None:
        """Removes the file."""
        self._file.close()
        self.path.unlink(missing_ok=True)


def read_frame(file: IO[bytes], path: Path) -> tuple[int, Columns] | None:
    """How many bytes the next frame takes, and its columns; ``None`` at the end.

    Raises:
      DataLossError: if the frame is torn or damaged.
    """
    head = file.read(_LENGTH.size)
    if not head:
        return None
    try:
        (length,) = _LENGTH.unpack(head)
        frame = file.read(min(length, os.fstat(file.fileno()).st_size))
        return _LENGTH.size + length, decode_frame(frame)
    except (struct.error, WireError) as error:
        raise DataLossError(message=f"{path} is damaged; delete it, and it is made anew: {error}") from error
