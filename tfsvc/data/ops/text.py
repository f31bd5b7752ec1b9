"""The lines of one text file, the inner part of ``TextLineDataset``."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from tfsvc.data.operator import UNKNOWN, Context, Operator, OperatorIterator
from tfsvc.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from tfsvc.protocol.splits import SplitPlan
from tfsvc.specs import TensorSpec


def _open_plain(path: str) -> IO[bytes]:
    return Path(path).open("rb")


def _open_gzip(path: str) -> IO[bytes]:
    return cast(IO[bytes], gzip.GzipFile(path, "rb"))


def _open_zlib(path: str) -> IO[bytes]:
    return io.BytesIO(zlib.decompress(Path(path).read_bytes()))


_OPENERS: dict[str, Callable[[str], IO[bytes]]] = {"": _open_plain, "GZIP": _open_gzip, "ZLIB": _open_zlib}


@dataclass(frozen=True, eq=False)
class TextLines(Operator):
    """The lines of ``filename`` as strings, without their ends.

    ``compression`` is "", "GZIP" or "ZLIB"; a ZLIB file is decompressed as a whole into memory.
    """

    filename: str
    compression: str = ""
    name = "TextLineDataset"

    def __post_init__(self) -> None:
        if self.compression not in _OPENERS:
            raise InvalidArgumentError(message=f"Unsupported compression_type: {self.compression}.")

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return ()

    def cardinality(self) -> int:
        return UNKNOWN

    def plans(self) -> tuple[SplitPlan, ...]:
        raise UnimplementedError(
            message=f"The lines of {self.filename} cannot be split; use TextLineDataset, where a split is a file."
        )

    def iterator(self, context: Context) -> OperatorIterator:
        return _TextLinesIterator(self)

    def open(self) -> IO[bytes]:
        """The decompressed bytes.

        Raises:
          NotFoundError: if there is no such file.
        """
        try:
            return _OPENERS[self.compression](self.filename)
        except FileNotFoundError as error:
            raise NotFoundError(message=f"{self.filename}; No such file or directory") from error
        except zlib.error as error:
            raise DataLossError(message=f"{self.filename} is not a whole ZLIB file: {error}") from error

    def _make_spec(self) -> Any:
        return TensorSpec((), "string")

    def _make_examples(self) -> tuple[Any, ...]:
        # The file may exist only where the workers run.
        try:
            return (_TextLinesIterator(self).next(),)
        except (NotFoundError, StopIteration):
            return (b"",)


@dataclass(frozen=True)
class ReadLines:
    """The function behind ``TextLineDataset``: from a filename to its lines."""

    compression: str

    def __call__(self, filename: Any) -> TextLines:
        return TextLines(os.fsdecode(filename), self.compression)


class _TextLinesIterator(OperatorIterator):
    def __init__(self, lines: TextLines) -> None:
        self._lines = lines
        self._file: IO[bytes] | None = None
        self._offset = 0

    def next(self) -> bytes:
        if self._file is None:
            self._file = self._lines.open()
            self._file.seek(self._offset)
        try:
            line = self._file.readline()
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataLossError(message=f"{self._lines.filename} is not a whole GZIP file: {error}") from error
        if not line:
            self._file.close()
            self._file = io.BytesIO()
            raise StopIteration
        self._offset += len(line)
        # TensorFlow drops every carriage return, not only the one before the line's end.
        return line.removesuffix(b"\n").replace(b"\r", b"")

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def save(self) -> Any:
        return self._offset

    def load(self, state: Any) -> None:
        self._offset = state
