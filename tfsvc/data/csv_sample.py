"""What the first rows of CSV files tell: the columns' names and the types that their fields fit."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tfsvc.specs import DTYPES, DType
from tfsvc.storage.compression import open_reader

COLUMN_TYPES = tuple(DTYPES[name] for name in ("int32", "int64", "float32", "float64", "string"))
"""The types of columns, from the one that the fewest fields fit on."""


@dataclass(frozen=True)
class CsvSample:
    """The first rows of files, as Python's reader gives them: what names and types are found from."""

    filenames: list[bytes]
    delimiter: str
    quotes: bool
    compression: str
    encoding: str

    def header(self) -> list[str]:
        """The first row, which all files must have."""
        first: list[str] | None = None
        for filename in self.filenames:
            row = next(self._rows(filename), None)
            if row is None:
                raise ValueError(
                    f"Failed when reading the header line of {os.fsdecode(filename)}. Is it an empty file?"
                )
            if first is not None and row != first:
                raise ValueError(
                    "All input CSV files should have the same column names in the header row. "
                    f"File {os.fsdecode(filename)} has different column names."
                )
            first = row
        assert first is not None
        return first

    def defaults(self, width: int, chosen: list[int], na_value: str, header: bool, limit: int | None) -> list[Any]:
        """Zeros and empty strings of the narrowest types that the fields of ``limit`` rows fit."""
        types: list[DType | None] = [None] * len(chosen)
        for number, row in enumerate(self._all_rows(width, header)):
            if number == limit:
                break
            types = [_widened(types[i], row[place], na_value) for i, place in enumerate(chosen)]
        known = (COLUMN_TYPES[-1] if dtype is None else dtype for dtype in types)
        return [np.array([b"" if dtype == "string" else 0], dtype.numpy) for dtype in known]

    def _all_rows(self, width: int, header: bool) -> Iterator[list[str]]:
        for filename in self.filenames:
            for number, row in enumerate(self._rows(filename), 1):
                if header and number == 1:
                    continue
                if len(row) != width:
                    raise ValueError(
                        f"Problem inferring types: CSV row {number} has {len(row)} number of fields. Expected: {width}."
                    )
                yield row

    def _rows(self, filename: bytes) -> Iterator[list[str]]:
        if self.compression not in ("", "GZIP"):
            raise ValueError(
                f"Names and types cannot be found from files of `compression_type` {self.compression}; "
                "give `column_names` and `column_defaults`."
            )
        with io.TextIOWrapper(open_reader(os.fsdecode(filename), self.compression), self.encoding, newline="") as file:
            quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE
            yield from csv.reader(file, delimiter=self.delimiter, quoting=quoting)


def _widened(known: DType | None, text: str, na_value: str) -> DType | None:
    """The narrowest type for this field and those before it."""
    if text in ("", na_value):
        return known
    first = 0 if known is None else COLUMN_TYPES.index(known)
    return next(dtype for dtype in COLUMN_TYPES[first:] if _FITS[dtype.name](text))


def _fits_integer(kind: Any) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        try:
            return bool(np.iinfo(kind).min <= int(text) <= np.iinfo(kind).max)
        except ValueError:
            return False

    return fits


def _fits_float(kind: Any) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        try:
            with np.errstate(over="ignore"):
                return bool(kind(text) < np.inf)
        except ValueError:
            return False

    return fits


_FITS: dict[str, Callable[[str], bool]] = {
    "int32": _fits_integer(np.int32),
    "int64": _fits_integer(np.int64),
    "float32": _fits_float(np.float32),
    "float64": _fits_float(np.float64),
    "string": lambda text: True,
}
