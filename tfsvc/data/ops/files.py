"""What all readers of files share: opening one, and one record after the other."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, SourceOperator
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
class FileRecords(SourceOperator):
    """The records of one file as scalar strings: the inner part of the datasets that read files.

    ``compression`` is "", "GZIP" or "ZLIB"; a ZLIB file is decompressed as a whole into memory.
    """

    filename: str
    compression: str = ""

    def __post_init__(self) -> None:
        if self.compression not in _OPENERS:
            raise InvalidArgumentError(message=f"Unsupported compression_type: {self.compression}.")

    @abstractmethod
    def read(self, file: IO[bytes]) -> bytes:
        """The next record with all that belongs to it, from where ``file`` stands; empty at the end.

        Raises:
          DataLossError: if the record is damaged.
        """

    def record(self, read: bytes) -> bytes:
        """The element in what :meth:`read` gave."""
        return read

    @property
    def reads_files(self) -> bool:
        return True

    @property
    def start(self) -> int:
        """The offset of the first record."""
        return 0

    def cardinality(self) -> int:
        return UNKNOWN

    def plans(self) -> tuple[SplitPlan, ...]:
        raise UnimplementedError(
            message=f"The records of {self.filename} cannot be split; use {self.name}, where a split is a file."
        )

    def iterator(self, context: Context) -> OperatorIterator:
        return _FileIterator(self)

    def open(self) -> IO[bytes]:
        """The decompressed bytes.

        Raises:
          NotFoundError: if there is no such file.
          DataLossError: if it cannot be decompressed.
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
            return (_FileIterator(self).next(),)
        except (NotFoundError, StopIteration):
            return (b"",)


@dataclass(frozen=True)
class Reader:
    """The function behind a dataset of files: from a filename to its records.

    Attributes:
      records: the operator that reads one file.
      arguments: what it takes beside the filename.
    """

    records: Callable[..., FileRecords]
    arguments: tuple[Any, ...]

    def __call__(self, filename: Any) -> FileRecords:
        return self.records(os.fsdecode(filename), *self.arguments)


class _FileIterator(OperatorIterator):
    """A file that fails has nothing more to give."""

    def __init__(self, records: FileRecords) -> None:
        self._records = records
        self._file: IO[bytes] | None = None
        self._offset = records.start
        self._ended = False

    def next(self) -> bytes:
        if self._ended:
            raise StopIteration
        try:
            read = self._read()
        except Exception:
            self._end()
            raise
        if not read:
            self._end()
            raise StopIteration
        self._offset += len(read)
        return self._records.record(read)

    def _read(self) -> bytes:
        try:
            if self._file is None:
                self._file = self._records.open()
                self._file.seek(self._offset)
            return self._records.read(self._file)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataLossError(message=f"{self._records.filename} is not a whole GZIP file: {error}") from error

    def _end(self) -> None:
        self._ended = True
        if self._file is not None:
            self._file.close()

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def save(self) -> Any:
        return self._offset, self._ended

    def load(self, state: Any) -> None:
        self._offset, self._ended = state
