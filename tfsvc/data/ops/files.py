"""What all readers of files share: opening one, and one record after the other."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

from tfsvc.columns import Columns
from tfsvc.data.operator import UNKNOWN, Context, OperatorIterator, SourceOperator
from tfsvc.data.stacking import to_columns
from tfsvc.errors import DataLossError, NotFoundError, UnimplementedError
from tfsvc.protocol.splits import SplitPlan
from tfsvc.specs import TensorSpec
from tfsvc.storage.compression import check_compression, open_reader

BLOCK_RECORDS_MAX = 4096
"""Records that are read at once at most, so that a block has a bound where its reader has none."""


class Opened(NamedTuple):
    """A file, where it stands, and what is wrong with its beginning."""

    file: IO[bytes]
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
    def read(self, file: IO[bytes]) -> tuple[int, Any] | None:
        """How many bytes the next record takes from where ``file`` stands, and the record; ``None`` at the end.

        Raises:
          DataLossError: if the record is damaged, and with it the rest of the file.
        """

    def element(self, record: Any) -> Any:
        """The element in a record; should it raise, only this record is missing."""
        return record

    def cardinality(self) -> int:
        return UNKNOWN

    def plans(self) -> tuple[SplitPlan, ...]:
        raise UnimplementedError(
            message=f"The records of {self.filename} cannot be split; use {self.name}, where a split is a file."
        )

    def iterator(self, context: Context) -> OperatorIterator:
        return _FileIterator(self)

    def open(self, offset: int) -> Opened:
        """The decompressed bytes from ``offset`` on, 0 being where the file begins.

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
    """What reading on has come to.

    Attributes:
      offset: where the file is read from next.
      element: unless it has ended or failed.
      error: what was raised.
      ended: whether there is nothing behind.
    """

    offset: int
    element: Any = None
    error: Exception | None = None
    ended: bool = False


class _FileIterator(OperatorIterator):
    """A file that fails has nothing more to give, but a record that makes no element is the only one missing."""

    def __init__(self, records: FileRecords) -> None:
        self._records = records
        self._file: IO[bytes] | None = None
        self._offset = 0
        self._ended = False
        self._ahead: _Outcome | None = None

    def next(self) -> Any:
        if not self._ended:
            outcome = self._ahead or self._advance()
            self._take(outcome)
            if outcome.error is not None:
                raise outcome.error
            if not outcome.ended:
                return outcome.element
        raise StopIteration

    def block(self, limit: int) -> Columns:
        rows = [self.next()]
        while len(rows) < min(limit, BLOCK_RECORDS_MAX):
            outcome = self._ahead or self._advance()
            if outcome.ended or outcome.error is not None:
                self._ahead = outcome
                break
            self._take(outcome)
            rows.append(outcome.element)
        return to_columns(rows)

    def _advance(self) -> _Outcome:
        try:
            if self._file is None:
                self._file, self._offset, problem = self._records.open(self._offset)
                if problem is not None:
                    return _Outcome(self._offset, error=problem)
            found = self._records.read(self._file)
        except Exception as error:
            return _Outcome(self._offset, error=error, ended=True)
        if found is None:
            return _Outcome(self._offset, ended=True)
        offset = self._offset + found[0]
        try:
            return _Outcome(offset, self._records.element(found[1]))
        except Exception as error:
            return _Outcome(offset, error=error)

    def _take(self, outcome: _Outcome) -> None:
        self._offset, self._ended, self._ahead = outcome.offset, outcome.ended, None
        if self._ended and self._file is not None:
            self._file.close()

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def save(self) -> Any:
        return self._offset, self._ended

    def load(self, state: Any) -> None:
        self._offset, self._ended = state
