"""``tf.data.experimental.TFRecordWriter``: a dataset of strings into one TFRecord file."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tfsvc.data.dataset import Dataset
from tfsvc.data.ops.tfrecord import encode_record
from tfsvc.errors import InvalidArgumentError
from tfsvc.specs import TensorSpec

_COMPRESS: dict[str, Callable[[bytes], bytes]] = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}


class TFRecordWriter:
    """Writes a file that ``TFRecordDataset`` reads. A compressed file is put together in memory.

    Args:
      filename: the file; what it held before is lost.
      compression_type: ``None`` or "" for a plain file, "GZIP" or "ZLIB".

    Raises:
      InvalidArgumentError: if there is no such compression.
    """

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        if (compression_type or "") not in _COMPRESS:
            raise InvalidArgumentError(message=f"Unsupported compression_type: {compression_type}.")
        self._path = Path(filename)
        self._compression = compression_type or ""

    def write(self, dataset: Dataset) -> None:
        """Writes all elements, one a record.

        Raises:
          TypeError: if ``dataset`` is none, or its elements are no scalar strings.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError(f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}.")
        if not TensorSpec((), "string").is_compatible_with(dataset.element_spec):
            raise TypeError(f"Invalid `dataset`. Expected scalar strings but its elements are {dataset.element_spec}.")
        records = map(encode_record, dataset)
        if self._compression:
            self._path.write_bytes(_COMPRESS[self._compression](b"".join(records)))
            return
        with self._path.open("wb") as file:
            file.writelines(records)
