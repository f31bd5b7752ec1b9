"""The rows of one CSV file, the inner part of ``CsvDataset``.

What is a row and what is wrong with one is TensorFlow's rule: a row ends at a line feed, a carriage return or both;
a field that begins with a quote goes to the next quote that is followed by a delimiter or the row's end, and quotes
within it are doubled. After a row that makes no element the next one is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any

import numpy as np

from tfsvc.columns import Columns
from tfsvc.data.ops.files import FileRecords, Opened
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import DType, TensorSpec
from tfsvc.storage.compression import PIECE_BYTES

_INTEGER = re.compile(rb"[ \t\n\v\f\r]*[+-]?[0-9]+[ \t\n\v\f\r]*")
_HEXADECIMAL = re.compile(rb"\s*[+-]?0x", re.IGNORECASE)
_NAN = re.compile(rb"nan(\(\w*\))?", re.IGNORECASE)
_TYPE_NAMES = {"float32": "float", "float64": "double"}


@dataclass(frozen=True)
class Column:
    """A column that is read.

    Attributes:
      dtype: float32, float64, int32, int64 or string.
      default: the value of an empty field, or ``None`` where a field must not be empty.
    """

    dtype: DType
    default: Any


@dataclass(frozen=True, eq=False)
class CsvRecords(FileRecords):
    """A tuple of scalars for each row, one for each of ``columns_read``.

    Attributes:
      columns_read: those that are read, from left to right.
      header: whether the first row is passed over.
      delimiter: one byte.
      quotes: whether quotes have a meaning.
      na_value: a field that counts as empty.
      chosen: the places of the columns that are read, or ``None`` for all.
      left_out: the places of columns that are not read.
    """

    columns_read: tuple[Column, ...] = ()
    header: bool = False
    delimiter: bytes = b","
    quotes: bool = True
    na_value: bytes = b""
    chosen: tuple[int, ...] | None = None
    left_out: frozenset[int] = frozenset()
    name = "CsvDataset"

    def open(self, offset: int) -> Opened:
        file, offset, _ = super().open(offset)
        lines = _Lines(file)
        if not self.header or offset:
            return Opened(lines, offset)
        unreadable = InvalidArgumentError(message=f"Can't read header of file {self.filename}")
        try:
            header = self.read(lines)
        except InvalidArgumentError:
            header = None
        if header is None:
            lines.close()
            raise unreadable
        try:
            list(self._fields(header[1]))
        except InvalidArgumentError:
            return Opened(lines, header[0], unreadable)
        return Opened(lines, header[0])

    def read(self, file: _Lines) -> tuple[int, bytes] | None:
        row = line = file.next()
        if self.quotes and b'"' in row and not self._row.fullmatch(row):
            lines = [row]
            # Between lines nothing is to be known but that a quoted field goes on.
            while not (len(lines) > 1 and self._rest.fullmatch(line)):
                line = file.next()
                lines.append(line)
                if not line:
                    raise InvalidArgumentError(
                        message=f"Reached end of file without closing quoted field in record of {self.filename}"
                    )
            row = b"".join(lines)
        return (len(row), row) if row else None

    def columns(self, records: list[bytes]) -> Columns | None:
        fields = list(zip(*map(self._fields, records), strict=True))
        places = self.chosen or [place for place in range(len(fields)) if place not in self.left_out]
        if len(places) != len(self.columns_read):
            return None
        leaves = [self._column(fields[place], column) for place, column in zip(places, self.columns_read, strict=True)]
        return Columns(tuple(range(len(leaves))), tuple(leaves), len(records))

    def _column(self, fields: Sequence[bytes], column: Column) -> np.ndarray[Any, Any]:
        """The fields of one column; raises where one is not as most are."""
        values: Sequence[Any] = fields
        if b"" in fields or self.na_value in fields:
            if column.default is None:
                raise ValueError("a field is missing")
            default = column.default if column.dtype == "string" else str(column.default.item()).encode()
            values = [default if not field or field == self.na_value else field for field in fields]
        if column.dtype == "string":
            return np.array(values, object)
        if b"_" in b"".join(values):
            raise ValueError("Python would read underscores")
        with np.errstate(over="ignore"):
            return np.array(list(map(_NUMBERS[column.dtype.name], values)), column.dtype.numpy)

    def element(self, record: bytes) -> tuple[Any, ...]:
        found: list[Any] = []
        for place, field in enumerate(self._fields(record)):
            if self._is_read(place, len(found)):
                if len(found) == len(self.columns_read):
                    raise self._wrong_count("more")
                found.append(self._value(field, len(found)))
        if len(found) != len(self.columns_read):
            raise self._wrong_count(str(len(found)))
        return tuple(found)

    def _is_read(self, place: int, found: int) -> bool:
        if self.chosen is not None:
            return found < len(self.chosen) and self.chosen[found] == place
        return place not in self.left_out

    def _value(self, field: bytes, number: int) -> Any:
        column = self.columns_read[number]
        if not field or field == self.na_value:
            if column.default is None:
                raise InvalidArgumentError(message=f"Field {number} is required but missing in record!")
            return column.default
        value = _PARSERS[column.dtype.name](field)
        if value is None:
            kind = _TYPE_NAMES.get(column.dtype.name, column.dtype.name)
            text = field.decode(errors="backslashreplace")
            raise InvalidArgumentError(message=f"Field {number} in record is not a valid {kind}: {text}")
        return value

    def _wrong_count(self, found: str) -> InvalidArgumentError:
        return InvalidArgumentError(message=f"Expect {len(self.columns_read)} fields but have {found} in record")

    def _fields(self, row: bytes) -> Iterable[bytes]:
        """The contents of the fields; iterating raises where one is wrong."""
        if self.quotes and b'"' in row:
            return self._quoted_fields(row)
        # Where nothing is quoted, line ends are at the end only.
        return row.rstrip(b"\r\n").split(self.delimiter)

    def _quoted_fields(self, row: bytes) -> Iterator[bytes]:
        row = row.removesuffix(b"\n").removesuffix(b"\r") if row.endswith(b"\n") else row.removesuffix(b"\r")
        for match in self._one_field.finditer(row):
            field: bytes = match[1]
            if field.startswith(b'"'):
                inner = field[1:-1]
                if b'"' in inner.replace(b'""', b""):
                    raise InvalidArgumentError(message="Quote inside a string has to be escaped by another quote")
                yield inner.replace(b'""', b'"')
            elif b'"' in field:
                raise InvalidArgumentError(message="Unquoted fields cannot have quotes inside")
            else:
                yield field

    @cached_property
    def _row(self) -> re.Pattern[bytes]:
        """A row of which nothing is missing."""
        return re.compile(self._field + self._further)

    @cached_property
    def _rest(self) -> re.Pattern[bytes]:
        """The last line of a row, behind lines that end within a quoted field."""
        return re.compile(self._quoted + self._further)

    @cached_property
    def _one_field(self) -> re.Pattern[bytes]:
        return re.compile(rb"(?:\A|(?<=" + re.escape(self.delimiter) + rb"))(" + self._field + rb")")

    @property
    def _quoted(self) -> bytes:
        """What follows the opening quote, up to the closing one."""
        stop = re.escape(self.delimiter) + rb"\r\n"
        return rb'(?:[^"]++|"[^' + stop + rb'])*+"(?=[' + stop + rb"]|\Z)"

    @property
    def _field(self) -> bytes:
        return rb'(?:"' + self._quoted + rb'|(?!")[^' + re.escape(self.delimiter) + rb"\r\n]*+)"

    @property
    def _further(self) -> bytes:
        """Further fields and the row's end."""
        return rb"(?:" + re.escape(self.delimiter) + self._field + rb")*+(?:\r\n?|\n|\Z)"

    def _make_spec(self) -> Any:
        return tuple(TensorSpec((), column.dtype) for column in self.columns_read)

    def _make_examples(self) -> tuple[Any, ...]:
        # Not of the file, whose rows may be wrong.
        zeros = (b"" if c.dtype == "string" else c.dtype.as_numpy_dtype(0) for c in self.columns_read)
        return (tuple(zeros),)


class _Lines:
    """The lines of a file with their ends, each a line feed, a carriage return or both."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._lines: list[bytes] = []
        self._rest = b""

    def next(self) -> bytes:
        """The next line; empty at the end of the file."""
        while not self._lines:
            piece = self._file.read(PIECE_BYTES)
            lines = (self._rest + piece).splitlines(keepends=True)
            if not lines:
                return b""
            # The last one may go on in the next piece, even where it ends with a carriage return.
            self._rest = lines.pop() if piece else b""
            self._lines = lines[::-1]
        return self._lines.pop()

    def close(self) -> None:
        self._file.close()


def _integer(kind: Any) -> Any:
    bounds = np.iinfo(kind)

    def parse(field: bytes) -> Any:
        if not _INTEGER.fullmatch(field):
            return None
        value = int(field)
        return kind(value) if bounds.min <= value <= bounds.max else None

    return parse


def _float(kind: Any) -> Any:
    def parse(field: bytes) -> Any:
        try:
            if b"_" in field:
                return None
            if _HEXADECIMAL.match(field):
                return kind(float.fromhex(field.decode()))
            with np.errstate(over="ignore"):
                return kind(float(field))
        except (ValueError, OverflowError):
            return kind("nan") if _NAN.fullmatch(field.strip().lstrip(b"+-")) else None

    return parse


_NUMBERS: dict[str, Any] = {"int32": int, "int64": int, "float32": float, "float64": float}
_PARSERS: dict[str, Any] = {
    "int32": _integer(np.int32),
    "int64": _integer(np.int64),
    "float32": _float(np.float32),
    "float64": _float(np.float64),
    "string": lambda field: field,
}
