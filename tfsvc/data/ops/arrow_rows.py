"""``Dataset.from_parquet`` and ``Dataset.from_arrow``: the rows of tables, one piece of a table after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from tfsvc.columns import Columns
from tfsvc.data.arrow_columns import arrow, columns_of
from tfsvc.data.elements import zero_examples
from tfsvc.data.operator import Context, OperatorIterator, SourceOperator
from tfsvc.data.ops.cursor import Cursor
from tfsvc.data.stacking import cut
from tfsvc.errors import DataLossError, InvalidArgumentError, NotFoundError
from tfsvc.protocol.splits import SplitPlan
from tfsvc.storage.folders import local_path, open_file

BATCH_ROWS = 1 << 14
"""Rows of a row group that are decoded at a time."""


class Piece(ABC):
    """What is one split: rows that are read one after the other."""

    source: str
    """The name of the file it lies in; empty in memory."""

    @abstractmethod
    def open(self) -> Any:
        """What pieces of one source share while they are read."""

    @abstractmethod
    def batches(self, opened: Any, columns: list[str], start: int) -> Iterator[Any]:
        """Record batches of the rows from ``start`` on."""


@dataclass(frozen=True)
class RowGroup(Piece):
    """A row group of a Parquet file."""

    source: str
    number: int

    def open(self) -> Any:
        return open_parquet(self.source)

    def batches(self, opened: Any, columns: list[str], start: int) -> Iterator[Any]:
        for batch in opened.iter_batches(BATCH_ROWS, row_groups=[self.number], columns=columns):
            skipped = min(start, batch.num_rows)
            start -= skipped
            yield batch.slice(skipped)


@dataclass(frozen=True)
class FileBatch(Piece):
    """A record batch of an Arrow file, of which the columns in the places ``fields`` are read."""

    source: str
    number: int
    fields: tuple[int, ...]

    def open(self) -> Any:
        return open_arrow(self.source, self.fields)

    def batches(self, opened: Any, columns: list[str], start: int) -> Iterator[Any]:
        yield opened.get_batch(self.number).slice(start)


@dataclass(frozen=True)
class TableSlice(Piece):
    """The rows ``start <= i < stop`` of a table in memory."""

    table: Any
    start: int
    stop: int
    source = ""

    def open(self) -> Any:
        return self.table

    def batches(self, opened: Any, columns: list[str], start: int) -> Iterator[Any]:
        yield from opened.select(columns).slice(self.start + start, self.stop - self.start - start).to_batches()


@dataclass(frozen=True)
class HuggingFaceSlice(Piece):
    """The rows ``start <= i < stop`` of a data set of Hugging Face's library."""

    dataset: Any
    start: int
    stop: int
    source = ""

    def open(self) -> Any:
        return self.dataset

    def batches(self, opened: Any, columns: list[str], start: int) -> Iterator[Any]:
        rows = opened.with_format("arrow", columns=columns)
        for at in range(self.start + start, self.stop, BATCH_ROWS):
            yield from rows[at : min(at + BATCH_ROWS, self.stop)].select(columns).combine_chunks().to_batches()


def open_parquet(path: str) -> Any:
    """A Parquet file, mapped into memory where it has a path; only its footer is read."""
    arrow()
    import pyarrow.parquet

    with reading(path):
        local = local_path(path)
        return pyarrow.parquet.ParquetFile(open_file(path) if local is None else local, memory_map=local is not None)


def open_arrow(path: str, fields: tuple[int, ...] = ()) -> Any:
    """An Arrow file with the columns in the places ``fields``, all when empty; only its footer is read now."""
    pa = arrow()
    with reading(path):
        options = pa.ipc.IpcReadOptions(included_fields=list(fields))
        local = local_path(path)
        return pa.ipc.open_file(open_file(path) if local is None else pa.memory_map(local), options=options)


class Head(NamedTuple):
    """What is to be known of a file before it is read: its name, Arrow's schema, and how much there is."""

    path: str
    schema: Any
    pieces: int
    rows: int


def parquet_head(path: str) -> Head:
    """The head of a Parquet file; raises as :func:`reading`."""
    with open_parquet(path) as file:
        return Head(path, file.schema_arrow, file.metadata.num_row_groups, file.metadata.num_rows)


def arrow_head(path: str) -> Head:
    """The head of an Arrow file, of which nothing is decompressed; raises as :func:`reading`."""
    pa = arrow()
    with open_arrow(path) as file, reading(path):
        import pyarrow.dataset

        with open_file(path) as bytes_of_it:
            rows = pyarrow.dataset.IpcFileFormat().make_fragment(pa.PythonFile(bytes_of_it)).count_rows()
        return Head(path, file.schema, file.num_record_batches, rows)


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Makes errors of Arrow's our own.

    Raises:
      NotFoundError: if there is no such file.
      DataLossError: if it cannot be read.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise NotFoundError(message=f"{path}; No such file or directory") from error
    except (arrow().ArrowException, OSError) as error:
        raise DataLossError(message=f"{path} cannot be read: {error}") from error


@dataclass(frozen=True, eq=False)
class ArrowRows(SourceOperator):
    """The rows of ``pieces`` as dicts; a split is a piece.

    Attributes:
      pieces: one after the other.
      count: rows of all of them.
      element_spec: of a row.
      defaults: what stands for null, by column.
    """

    pieces: tuple[Piece, ...]
    count: int
    element_spec: dict[str, Any]
    defaults: Mapping[str, Any]
    name = "from_arrow"

    def cardinality(self) -> int:
        return self.count

    def plans(self) -> tuple[SplitPlan, ...]:
        return (SplitPlan(len(self.pieces)),)

    def iterator(self, context: Context) -> OperatorIterator:
        return _ArrowIterator(self, context)

    def _make_spec(self) -> Any:
        return self.element_spec

    def _make_examples(self) -> tuple[Any, ...]:
        # The files may exist only where the workers run.
        return zero_examples(self.element_spec)


@dataclass(frozen=True, eq=False)
class ParquetRows(ArrowRows):
    """The same of Parquet files."""

    name = "from_parquet"


class _ArrowIterator(OperatorIterator):
    """Its state is the piece it reads, and how many of its rows are behind it."""

    def __init__(self, rows: ArrowRows, context: Context) -> None:
        self._rows = rows
        self._columns = list(rows.element_spec)
        self._cursor = Cursor(len(rows.pieces), context.feed)
        self._piece: int | None = None
        self._row = 0
        self._opened: tuple[str, Any] | None = None
        self._batches: Iterator[Any] | None = None
        self._halves: list[Any] = []
        self._ahead: Columns | None = None
        self._at = 0

    def next(self) -> Any:
        ahead = self._filled()
        self._at += 1
        self._row += 1
        return ahead.element(self._at - 1)

    def block(self, limit: int) -> Columns:
        ahead = self._filled()
        start, self._at = self._at, min(self._at + limit, ahead.count)
        self._row += self._at - start
        return cut(ahead, start, self._at)

    def _filled(self) -> Columns:
        """Columns of which something has not been given."""
        while self._ahead is None or self._at == self._ahead.count:
            self._ahead = None
            batch = self._next_batch()
            if batch is not None:
                self._take(batch)
        return self._ahead

    def _take(self, batch: Any) -> None:
        try:
            self._ahead, self._at = columns_of(batch, self._rows.element_spec, self._rows.defaults), 0
        except InvalidArgumentError:
            if batch.num_rows == 1:
                self._row += 1
                raise
            # Only the row that is wrong must be missing.
            half = batch.num_rows // 2
            self._halves += (batch.slice(half), batch.slice(0, half))

    def _next_batch(self) -> Any:
        """A record batch that has rows; ``None`` when a piece has no more."""
        if self._halves:
            return self._halves.pop()
        if self._piece is None:
            self._piece, self._row = self._cursor.next(), 0
        piece = self._rows.pieces[self._piece]
        try:
            with reading(piece.source):
                if self._batches is None:
                    self._batches = piece.batches(self._open(piece), self._columns, self._row)
                batch = next((batch for batch in self._batches if batch.num_rows), None)
        except (DataLossError, NotFoundError):
            self._end_piece()
            raise
        if batch is None:
            self._end_piece()
        return batch

    def _open(self, piece: Piece) -> Any:
        if self._opened is None or self._opened[0] != piece.source:
            self._opened = piece.source, piece.open()
        return self._opened[1]

    def _end_piece(self) -> None:
        self._piece = self._batches = None

    def save(self) -> Any:
        return self._cursor.save(), self._piece, self._row

    def load(self, state: Any) -> None:
        cursor, self._piece, self._row = state
        self._cursor.load(cursor)
