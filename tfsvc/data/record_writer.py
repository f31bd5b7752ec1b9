"""``tf.data.experimental.TFRecordWriter``: a dataset of strings into one TFRecord file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tfsvc.data.dataset import Dataset
from tfsvc.specs import TensorSpec
from tfsvc.storage.compression import Compressor, check_compression
from tfsvc.storage.records import encode_record


class TFRecordWriter:
    """Writes a file that ``TFRecordDataset`` reads.

    Args:
      filename: the file; what it held before is lost.
      compression_type: ``None`` or "" for a plain file, "GZIP", "ZLIB" or "SNAPPY".

    Raises:
      InvalidArgumentError: if there is no such compression.
    """

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._path = Path(filename)
        self._compression = compression_type or ""
        check_compression(self._compression)

    def write(self, dataset: Dataset) -> None:
        """Writes all elements, one a record.

        Raises:
          TypeError: if ``dataset`` is none, or its elements are no scalar strings.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError(f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}.")
        if not TensorSpec((), "string").is_compatible_with(dataset.element_spec):
            raise TypeError(f"Invalid `dataset`. Expected scalar strings but its elements are {dataset.element_spec}.")
        with self._path.open("wb") as file:
            compressor = Compressor(file, self._compression)
            for record in dataset:
                compressor.write(encode_record(record))
            compressor.finish()
