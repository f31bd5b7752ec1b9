"""The methods that read tables: Parquet files, Arrow files and tables in memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tfsvc.data.arrow_columns import arrow, default_names, spec_of_schema
from tfsvc.data.chain import Chain
from tfsvc.data.ops.arrow_rows import (
    ArrowRows,
    FileBatch,
    HuggingFaceSlice,
    ParquetRows,
    Piece,
    RowGroup,
    TableSlice,
    arrow_head,
    parquet_head,
)
from tfsvc.errors import InvalidArgumentError

if TYPE_CHECKING:
    from tfsvc.data.dataset import Dataset

SLICE_ROWS = 1 << 16
"""Rows of a table in memory that are one split."""

HUGGING_FACE_ROWS = 1 << 10
"""Rows of a data set of Hugging Face's that are one split; they may be images."""


class Tables(Chain):
    """Where the rows of tables come from."""

    @classmethod
    def from_parquet(
        cls,
        paths: Any,
        columns: Sequence[str] | None = None,
        defaults: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The rows of Parquet files as dicts, one file after the other; a split is a row group.

        Only the footers are read now; workers need the files under the same names. A row group is decoded piece by
        piece, and where a batch follows its columns are handed on whole. What Arrow's types become stands in
        :mod:`tfsvc.data.arrow_columns`.

        Args:
          paths: one or more names of files.
          columns: which are read, in this order; all when ``None``.
          defaults: what stands for null, by column, ``"a.b"`` being field b of a struct. Without one, null is NaN among
            floats and an error among others.
          name: a label.

        Raises:
          FailedPreconditionError: if pyarrow is not installed.
          NotFoundError: if a file is missing.
          DataLossError: if one is no Parquet file; on iteration, if it is damaged.
          ValueError: if a column is missing or has another type in another file, or there are no files.
          UnimplementedError: if a column has a type that no element can have.
          InvalidArgumentError: on iteration, for a row with a null that nothing stands for.

        Example::

            pyarrow.parquet.write_table(pyarrow.table({"x": [1, 2, 3], "y": ["a", "b", "c"]}), "points.parquet")
            points = tf.data.Dataset.from_parquet("points.parquet", columns=["x"])
            list(points.batch(2))  # [{"x": [1, 2]}, {"x": [3]}]
        """
        heads = [parquet_head(path) for path in _paths(paths)]
        pieces = [RowGroup(head.path, number) for head in heads for number in range(head.pieces)]
        spec = _agreed_spec([(head.path, head.schema) for head in heads], columns)
        return cls._then(_rows(ParquetRows, pieces, sum(head.rows for head in heads), spec, defaults))

    @classmethod
    def from_arrow(
        cls,
        table_or_paths: Any,
        columns: Sequence[str] | None = None,
        defaults: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The rows of a table in memory, of Arrow files (IPC files, Feather) or of a Hugging Face data set, as dicts.

        A split is a record batch of a file, 65,536 rows of a table, or 1,024 of a data set. A table is shipped with the
        dataset; files are mapped into memory where it runs, and so are those behind a data set that was not made in
        memory.

        Args:
          table_or_paths: a ``pyarrow.Table`` or ``RecordBatch``, whatever has ``__arrow_c_stream__`` such as a data
            frame; a ``datasets.Dataset``, whose own format and transforms do not count; or one or more names of files.
          columns: as for :meth:`from_parquet`, as are ``defaults`` and what is raised.
          defaults: what stands for null, by column.
          name: a label.

        Example::

            table = pyarrow.table({"x": [1, 2, 3]})
            list(tf.data.Dataset.from_arrow(table))  # [{"x": 1}, {"x": 2}, {"x": 3}]
        """
        pa = arrow()
        if isinstance(table_or_paths, pa.RecordBatch):
            table_or_paths = pa.Table.from_batches([table_or_paths])
        elif hasattr(table_or_paths, "__arrow_c_stream__") and not isinstance(table_or_paths, pa.Table):
            table_or_paths = pa.table(table_or_paths)
        if _is_hugging_face(table_or_paths):
            return cls._then(_rows(ArrowRows, *_of_hugging_face(table_or_paths, columns), defaults))
        if isinstance(table_or_paths, pa.Table):
            return cls._then(_rows(ArrowRows, *_in_memory(table_or_paths, columns), defaults))
        heads = [arrow_head(path) for path in _paths(table_or_paths)]
        spec = _agreed_spec([(head.path, head.schema) for head in heads], columns)
        pieces: list[Piece] = []
        for head in heads:
            fields = tuple(map(head.schema.get_field_index, spec))
            pieces += (FileBatch(head.path, number, fields) for number in range(head.pieces))
        return cls._then(_rows(ArrowRows, pieces, sum(head.rows for head in heads), spec, defaults))


def _in_memory(table: Any, columns: Sequence[str] | None) -> tuple[list[Piece], int, dict[str, Any]]:
    starts = range(0, table.num_rows, SLICE_ROWS)
    pieces: list[Piece] = [TableSlice(table, at, min(at + SLICE_ROWS, table.num_rows)) for at in starts]
    return pieces, table.num_rows, _agreed_spec([("the table", table.schema)], columns)


def _is_hugging_face(value: Any) -> bool:
    # Who holds a data set has imported its library, so nothing is imported here.
    library = sys.modules.get("datasets")
    return library is not None and isinstance(value, getattr(library, "Dataset", ()))


def _of_hugging_face(dataset: Any, columns: Sequence[str] | None) -> tuple[list[Piece], int, dict[str, Any]]:
    count = len(dataset)
    starts = range(0, count, HUGGING_FACE_ROWS)
    pieces: list[Piece] = [HuggingFaceSlice(dataset, at, min(at + HUGGING_FACE_ROWS, count)) for at in starts]
    return pieces, count, _agreed_spec([("the data set", dataset.features.arrow_schema)], columns)


def _rows(
    kind: Callable[..., ArrowRows],
    pieces: Iterable[Piece],
    count: int,
    spec: dict[str, Any],
    defaults: Mapping[str, Any] | None,
) -> ArrowRows:
    unknown = sorted(set(defaults or ()) - set(default_names(spec)))
    if unknown:
        raise ValueError(f"`defaults` names {unknown}, but the columns are {default_names(spec)}")
    return kind(tuple(pieces), count, spec, dict(defaults or {}))


def _agreed_spec(schemas: list[tuple[str, Any]], columns: Sequence[str] | None) -> dict[str, Any]:
    first, schema = schemas[0]
    spec = spec_of_schema(schema, schema.names if columns is None else columns, first)
    if not spec:
        raise ValueError(f"there is no column to read in {first}")
    for path, other in schemas[1:]:
        found = spec_of_schema(other, list(spec), path)
        if found != spec:
            raise ValueError(f"{path} has the columns {found}, but {first} has {spec}")
    return spec


def _paths(paths: Any) -> list[str]:
    one = isinstance(paths, str | bytes | os.PathLike)
    try:
        found = [os.fsdecode(path) for path in ([paths] if one else paths)]
    except TypeError as error:
        raise InvalidArgumentError(message=f"expected a table or names of files, but got {paths!r}") from error
    if not found:
        raise ValueError("there are no files to read")
    return found
