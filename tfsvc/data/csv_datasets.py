"""``CsvDataset`` and ``make_csv_dataset``: rows of CSV files, and batches of them with names and types found out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tfsvc.data.csv_sample import COLUMN_TYPES, CsvSample
from tfsvc.data.dataset import Dataset
from tfsvc.data.elements import as_leaf
from tfsvc.data.ops.csv import Column, CsvRecords
from tfsvc.data.ops.files import Reader
from tfsvc.data.ops.list_files import matching_files
from tfsvc.data.options import Options
from tfsvc.data.readers import records_of
from tfsvc.data.sources import text_array
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import DTYPES, DType, as_dtype


class CsvDataset(Dataset):
    """The rows of CSV files as tuples of scalars, one file after the other; a split is a file.

    Args:
      filenames: one or more names of files.
      record_defaults: for each column that is read, a type (float32, float64, int32, int64 or string) where a field
        must not be empty, or the value of an empty field: an array of one element at the most, none meaning a type.
      compression_type: ``None`` or "" for plain files, "GZIP" or "ZLIB".
      buffer_size: a hint, in bytes.
      header: whether each file's first row is passed over.
      field_delim: what parts the fields, one byte.
      use_quote_delim: whether quotes have a meaning.
      na_value: a field that counts as empty.
      select_cols: the places of the columns that are read, in rising order; all when ``None`` or empty.
      exclude_cols: instead, the places of those that are not read.

    Raises:
      InvalidArgumentError: if the arguments contradict each other; on iteration, for a row that does not fit, after
        which the next row is read.
      TypeError: if a default is a bare number, which TensorFlow takes for the number of a type.
      NotFoundError: on iteration, if a file is missing.
      DataLossError: on iteration, if a file cannot be decompressed.

    Example::

        Path("points.csv").write_text("x,y\\n1,0.5\\n2,\\n")
        points = tf.data.experimental.CsvDataset("points.csv", [tf.int32, [0.0]], header=True)
        list(points)  # [(1, 0.5), (2, 0.0)]
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: str | None = None,
        buffer_size: int | None = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Sequence[int] | None = None,
        exclude_cols: Sequence[int] | None = None,
    ) -> None:
        columns = tuple(_column(default, number) for number, default in enumerate(record_defaults))
        chosen = _places(select_cols, "select_cols")
        left_out = _places(exclude_cols, "exclude_cols")
        delimiter = as_leaf(field_delim)
        if not columns:
            raise InvalidArgumentError(message="record_defaults should name at least one column")
        if chosen and left_out:
            raise InvalidArgumentError(message="Either select_cols or exclude_cols should be empty")
        if chosen and len(chosen) != len(columns):
            raise InvalidArgumentError(message="select_cols should match output size")
        if len(delimiter) != 1:
            raise InvalidArgumentError(message="field_delim should be only 1 char")
        layout = (
            bool(header),
            delimiter,
            bool(use_quote_delim),
            as_leaf(na_value),
            chosen or None,
            frozenset(left_out),
        )
        reader = Reader(CsvRecords, (compression_type or "", columns, *layout))
        CsvRecords("", *reader.arguments)
        super().__init__(records_of(filenames, reader, None))


def _places(places: Sequence[int] | None, what: str) -> tuple[int, ...]:
    numbers = tuple(int(place) for place in (() if places is None else places))
    if any(number < 0 for number in numbers):
        raise InvalidArgumentError(message=f"{what} should be non-negative indices")
    if any(one >= two for one, two in pairwise(numbers)):
        raise InvalidArgumentError(message=f"{what} should be strictly increasing indices")
    return numbers


def _column(default: Any, number: int) -> Column:
    dtype = _as_type(default)
    if dtype is not None:
        return Column(dtype, None)
    if isinstance(default, int) and any(default == dtype.as_datatype_enum for dtype in COLUMN_TYPES):
        raise TypeError(
            f"record_defaults[{number}] is {default!r}, which TensorFlow takes for the number of a type; "
            f"write np.int32({int(default)}) for a default or tf.int32 for a type"
        )
    array = np.asarray(as_leaf(default))
    if as_dtype(array.dtype) not in COLUMN_TYPES:
        names = ", ".join(dtype.name for dtype in COLUMN_TYPES)
        raise InvalidArgumentError(message=f"record_defaults[{number}] is {default!r}, but columns are {names}")
    if array.ndim > 1:
        raise InvalidArgumentError(message="Each record default should be at most rank 1")
    if array.size > 1:
        raise InvalidArgumentError(
            message=f"There should only be 1 default per field but field {number} has {array.size}"
        )
    return Column(as_dtype(array.dtype), array.reshape(-1)[0] if array.size else None)


def _as_type(value: Any) -> DType | None:
    """The type that a value names, if it names one."""
    if isinstance(value, DType | type) or (isinstance(value, str) and value in DTYPES):
        dtype = as_dtype(value)
        return dtype if dtype in COLUMN_TYPES else None
    return None


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[int | str] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of the rows of CSV files, as dicts from the columns' names to vectors.

    Args:
      file_pattern: one or more patterns of files, as for ``Dataset.list_files``.
      batch_size: rows in a batch.
      column_names: of all columns; the first row of each file when ``None``.
      column_defaults: as ``record_defaults`` of :class:`CsvDataset`; when ``None``, found from the first rows, an empty
        field becoming 0 or "".
      label_name: a column that is no part of the dict: elements are pairs of the dict and it.
      select_columns: the columns that are read, by place or by name; all when ``None``.
      field_delim: what parts the fields, one byte.
      use_quote_delim: whether quotes have a meaning.
      na_value: a field that counts as empty.
      header: whether each file's first row is passed over.
      num_epochs: how often the rows come; without end when ``None``.
      shuffle: whether files and rows come in random order.
      shuffle_buffer_size: rows held for it.
      shuffle_seed: of the order; it differs from TensorFlow's.
      prefetch_buffer_size: a hint.
      num_parallel_reads: how many files take turns; one when ``None``.
      sloppy: accepted for compatibility, as the order is always fixed.
      num_rows_for_inference: rows that are looked at for types; all when ``None``.
      compression_type: ``None`` or "" for plain files, "GZIP", or, where names and defaults are given, "ZLIB".
      ignore_errors: whether rows that do not fit are left out.
      encoding: of the text that names and types are found from.

    Raises:
      ValueError: if no file matches, names or types cannot be found, or arguments contradict each other.

    Example::

        Path("points.csv").write_text("x,label\\n0.5,a\\n1.5,b\\n")
        batches = tf.data.experimental.make_csv_dataset("points.csv", 2, label_name="label", num_epochs=1)
        features, label = next(iter(batches))  # {"x": [0.5, 1.5]} and [b"a", b"b"], the rows in random order
    """
    filenames = _matching(file_pattern)
    sample = CsvSample(filenames, field_delim, use_quote_delim, compression_type or "", encoding)
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        column_names = sample.header()
    names = list(column_names)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"Either `column_names` argument or CSV header row contains duplicate column names: {twice}.")
    chosen = list(range(len(names))) if select_columns is None else _chosen(select_columns, names)
    if column_defaults is None:
        column_defaults = sample.defaults(len(names), chosen, na_value, header, num_rows_for_inference)
    if select_columns is not None and len(column_defaults) != len(chosen):
        raise ValueError(
            "If specified, `column_defaults` and `select_columns` must have the same length: `column_defaults` has "
            f"length {len(column_defaults)}, `select_columns` has length {len(chosen)}."
        )
    names = [names[place] for place in chosen]
    if label_name is not None and label_name not in names:
        raise ValueError(f"`label_name` provided must be one of the columns: {names}. Received: {label_name}.")

    def rows_of(filename: bytes) -> Dataset:
        rows = CsvDataset(
            filename,
            column_defaults,
            compression_type,
            header=header,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=None if select_columns is None else chosen,
        )
        return rows.ignore_errors() if ignore_errors else rows

    files = Dataset.from_tensor_slices(np.array(filenames, object))
    if shuffle:
        files = files.shuffle(len(filenames), shuffle_seed)
    rows = files.interleave(rows_of, None if num_parallel_reads == -1 else num_parallel_reads or 1)
    if shuffle:
        rows = rows.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        rows = rows.repeat(num_epochs)
    batches = rows.batch(batch_size, drop_remainder=num_epochs is None).map(_Named(tuple(names), label_name))
    return batches.prefetch(prefetch_buffer_size).with_options(Options(deterministic=not sloppy))


@dataclass(frozen=True)
class _Named:
    """Columns by their names, and the label beside them."""

    names: tuple[str, ...]
    label: str | None

    def __call__(self, *columns: Any) -> Any:
        features = dict(zip(self.names, columns, strict=True))
        return features if self.label is None else (features, features.pop(self.label))


def _matching(file_pattern: Any) -> list[bytes]:
    if isinstance(file_pattern, list) and not file_pattern:
        raise ValueError("Argument `file_pattern` should not be empty.")
    try:
        return matching_files(text_array(file_pattern))
    except InvalidArgumentError:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.") from None


def _chosen(columns: Sequence[int | str], names: list[str]) -> list[int]:
    places = [_place(column, names) for column in columns]
    if len(set(places)) != len(places):
        raise ValueError(f"The `select_columns` argument contains duplicate columns: {list(columns)}.")
    return sorted(places)


def _place(column: int | str, names: list[str]) -> int:
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"Column {column} specified in `select_columns` must be of one of the columns: {names}.")
        return names.index(column)
    if not 0 <= column < len(names):
        raise ValueError(
            f"Column index {column} specified in `select_columns` should be >= 0 and < {len(names)}, "
            "which is the number of columns."
        )
    return column
