"""What all readers of files share: opening one, and one record after the other."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, SourceOperator
from tfsvc.data.stacking import columns_of
from tfsvc.errors import DataLossError, NotFoundError, UnimplementedError
from tfsvc.protocol.splits import SplitPlan
from tfsvc.specs import TensorSpec
from tfsvc.storage.compression import check_compression, open_reader

BLOCK_RECORDS_MAX = 4096
"""Records that are read ahead for a block, at most."""

BLOCK_BYTES_MAX = 1 << 20
"""Bytes at which no more of them is read ahead."""


class Opened(NamedTuple):
    """A file, where it stands, and what is wrong with its beginning."""

    file: Any
    offset: int
    problem: Exception | None = None


@dataclass(frozen=True, eq=False)
class FileRecords(SourceOperator):
    """The records of one file, scalar strings unless a subclass says otherwise: the inner part of the datasets that
    read files.

    ``compression`` is as in :mod:`tfsvc.storage.compression`. The file is read piece by piece.
    """

    filename: str
    compression: str = ""

    def __post_init__(self) -> None:
        check_compression(self.compression)

    @abstractmethod
    def read(self, file: Any) -> tuple[int, Any] | None:
        """How many bytes the next record takes from where ``file`` stands, and the record; ``None`` at the end.

        Raises:
          DataLossError: if the record is damaged, and with it the rest of the file.
        """

    def read_several(self, file: Any, limit: int) -> tuple[int, Sequence[Any]]:
        """Up to ``limit`` elements from where ``file`` stands, and their bytes; none where they are not easily had."""
        return 0, ()

    def element(self, record: Any) -> Any:
        """The element in a record; should it raise, only this record is missing."""
        return record

    def columns(self, records: list[Any]) -> Columns | None:
        """The elements of many records, or ``None`` where they are better made one by one; it may raise as well."""
        return Columns(0, (np.array([self.element(record) for record in records], object),), len(records))

    @property
    def reads_files(self) -> bool:
        return True

    def cardinality(self) -> int:
        return UNKNOWN

    def plans(self) -> tuple[SplitPlan, ...]:
        raise UnimplementedError(
            message=f"The records of {self.filename} cannot be split; use {self.name}, where a split is a file."
        )

    def iterator(self, context: Context) -> OperatorIterator:
        return _FileIterator(self)

    def open(self, offset: int) -> Opened:
        """The decompressed bytes from ``offset`` on, 0 being where the file begins, as :meth:`read` takes them.

        Raises:
          NotFoundError: if there is no such file.
          DataLossError: if it cannot be decompressed.
        """
        file = open_reader(self.filename, self.compression)
        if file.seek(offset) < offset:
            file.close()
            raise DataLossError(message=f"{self.filename} ends before byte {offset}")
        return Opened(file, offset)

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


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came in the place of a record: an error, the end of what can be read, or both; and the bytes it takes."""

    error: Exception | None = None
    ended: bool = True
    size: int = 0


class _FileIterator(OperatorIterator):
    """A file that fails has nothing more to give, but a record that makes no element is the only one missing."""

    def __init__(self, records: FileRecords) -> None:
        self._records = records
        self._file: Any = None
        self._offset = 0
        self._ended = False
        # What has been read of the file and has made no element yet, and how many of these no block can be made of.
        self._read: deque[tuple[int, Any]] = deque()
        self._singly = 0
        self._last: _Outcome | None = None

    def next(self) -> Any:
        while not self._ended:
            if not self._read and self._last is None:
                self._read_on()
            if self._read:
                size, record = self._read.popleft()
                self._offset += size
                self._singly = max(0, self._singly - 1)
                return self._records.element(record)
            if self._last is not None:
                self._end(self._last)
        raise StopIteration

    def block(self, limit: int) -> Columns | None:
        if self._singly:
            return None
        limit = min(limit, BLOCK_RECORDS_MAX)
        several = self._several(limit)
        if several:
            return columns_of(several)
        held = sum(size for size, _ in self._read)
        while self._last is None and len(self._read) < limit and held < BLOCK_BYTES_MAX:
            self._read_on()
            held += self._read[-1][0] if self._read else 0
        records = [record for _, record in islice(self._read, limit)]
        columns = self._columns(records) if records else None
        if columns is None:
            self._singly = len(records)
            return None
        for _ in records:
            self._offset += self._read.popleft()[0]
        return columns

    def _several(self, limit: int) -> Sequence[Any]:
        """Elements that can be read together; where there is none, or one of them fails, they are read one by one."""
        if self._file is None or self._ended or self._read or self._last is not None:
            return ()
        try:
            size, elements = self._records.read_several(self._file, limit)
        except Exception:
            self._file.close()
            self._file = None
            return ()
        self._offset += size
        return elements

    def _columns(self, records: list[Any]) -> Columns | None:
        try:
            return self._records.columns(records)
        except Exception:
            # One by one it shows which record is wrong.
            return None

    def _read_on(self) -> None:
        """Reads one record more, or what comes in the place of one."""
        try:
            if self._file is None:
                self._file, offset, problem = self._records.open(self._offset)
                if problem is not None:
                    self._last = _Outcome(problem, False, offset - self._offset)
                    return
                self._offset = offset
            found = self._records.read(self._file)
        except Exception as error:
            self._last = _Outcome(error)
            return
        if found is None:
            self._last = _Outcome()
        else:
            self._read.append(found)

    def _end(self, outcome: _Outcome) -> None:
        self._last, self._ended = None, outcome.ended
        self._offset += outcome.size
        if self._ended and self._file is not None:
            self._file.close()
        if outcome.error is not None:
            raise outcome.error

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def save(self) -> Any:
        return self._offset, self._ended

    def load(self, state: Any) -> None:
        self._offset, self._ended = state
