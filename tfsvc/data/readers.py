"""The datasets that read files; a split is a file.

Each takes one or more names, or a dataset of names, and ``num_parallel_reads``: when given, so many files are read at
a time and their records come in turns; ``AUTOTUNE`` takes 16 in turns and reads one a core.
``compression_type`` is ``None`` or "" for plain files, "GZIP" or "ZLIB". ``buffer_size`` is a hint, in bytes.
"""

from __future__ import annotations

from typing import Any

from tfsvc.data.dataset import Dataset
from tfsvc.data.operator import Operator
from tfsvc.data.ops.files import Reader
from tfsvc.data.ops.fixed_length import FixedLengthRecords
from tfsvc.data.ops.flat_map import FlatMap
from tfsvc.data.ops.parallel_interleave import ParallelInterleave
from tfsvc.data.ops.tensor_slices import TensorSlices
from tfsvc.data.ops.text import TextLines
from tfsvc.data.ops.tfrecord import TFRecords
from tfsvc.data.parallelism import AUTOTUNE
from tfsvc.data.sources import text_array
from tfsvc.data.transformations import DEFAULT_CYCLE_LENGTH


def records_of(filenames: Any, reader: Reader, parallel: int | None) -> Operator:
    """What ``reader`` reads from files, one after the other or ``parallel`` of them in turns."""
    names = filenames.operator if isinstance(filenames, Dataset) else TensorSlices(text_array(filenames))
    if parallel is None:
        return FlatMap(names, reader)
    cycle = DEFAULT_CYCLE_LENGTH if parallel == AUTOTUNE else parallel
    return ParallelInterleave(names, reader, cycle, 1, parallel)


class TextLineDataset(Dataset):
    """The lines of text files as scalar strings without their ends, one file after the other.

    Args:
      filenames: a name, a list of names, or a dataset of names.
      compression_type: ``None`` or ``""`` for plain files, ``"GZIP"`` or ``"ZLIB"``.
      buffer_size: a hint, in bytes.
      num_parallel_reads: how many files are read at a time, whose records come in turns; one after the other when not
        given; ``AUTOTUNE`` takes 16 in turns and reads one a core.
      name: a label.

    Raises:
      InvalidArgumentError: on iteration, if there is no such compression.
      NotFoundError: on iteration, if a file is missing.
      DataLossError: on iteration, if a file cannot be decompressed.

    Example::

        Path("words.txt").write_text("one\\ntwo\\n")
        list(tf.data.TextLineDataset("words.txt"))  # [b"one", b"two"]
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(records_of(filenames, Reader(TextLines, (compression_type or "",)), num_parallel_reads))


class TFRecordDataset(Dataset):
    """The records of TFRecord files as scalar strings, their checksums verified, one file after the other.

    Args:
      filenames: a name, a list of names, or a dataset of names.
      compression_type: ``None`` or ``""`` for plain files, ``"GZIP"`` or ``"ZLIB"``.
      buffer_size: a hint, in bytes.
      num_parallel_reads: how many files are read at a time, whose records come in turns; one after the other when not
        given; ``AUTOTUNE`` takes 16 in turns and reads one a core.
      name: a label.

    Raises:
      InvalidArgumentError: on iteration, if there is no such compression.
      NotFoundError: on iteration, if a file is missing.
      DataLossError: on iteration, if a record is damaged; the rest of its file is left out.

    Example::

        writer = tf.data.experimental.TFRecordWriter("records.gz", "GZIP")
        writer.write(tf.data.Dataset.from_tensor_slices(["one", "two"]))
        list(tf.data.TFRecordDataset("records.gz", "GZIP"))  # [b"one", b"two"]
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(records_of(filenames, Reader(TFRecords, (compression_type or "",)), num_parallel_reads))


class FixedLengthRecordDataset(Dataset):
    """Pieces of ``record_bytes`` of binary files as scalar strings, one file after the other.

    The other arguments are told at the head of this module.

    Args:
      filenames: names of files.
      record_bytes: bytes of each record.
      header_bytes: bytes to leave out at a file's start; none when ``None``.
      footer_bytes: bytes to leave out at its end; none when ``None``.
      buffer_size: a hint.
      compression_type: of the files.
      num_parallel_reads: how many files take turns.
      name: a label.

    Raises:
      InvalidArgumentError: on iteration, if a plain file does not hold a whole number of records, if a number of bytes
        makes no sense, or there is no such compression.
      DataLossError: on iteration, if a compressed file does not hold a whole number of records, behind the last of
        them.
      NotFoundError: on iteration, if a file is missing.

    Example::

        Path("pixels.bin").write_bytes(b"HEADaabbcc")
        list(tf.data.FixedLengthRecordDataset("pixels.bin", 2, header_bytes=4))  # [b"aa", b"bb", b"cc"]
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        buffer_size: int | None = None,
        compression_type: str | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        layout = (compression_type or "", int(record_bytes), int(header_bytes or 0), int(footer_bytes or 0))
        super().__init__(records_of(filenames, Reader(FixedLengthRecords, layout), num_parallel_reads))
