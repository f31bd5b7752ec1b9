"""Chunks: files of elements, as TensorFlow's saved datasets, snapshots and distributed snapshots have them.

A chunk is a TFRecord file, compressed or not. An element is one record for each of its components in flat order,
a serialized ``TensorProto`` in content form. What the components are part of stands elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from tfsvc.errors import DataLossError
from tfsvc.storage.compression import Compressor
from tfsvc.storage.records import FRAME_BYTES, encode_record, read_record
from tfsvc.wire.errors import serialize
from tfsvc.wire.tensors import from_bytes, to_proto


class ChunkWriter:
    """Writes one chunk; what is not closed is no whole chunk.

    Args:
      path: the file; what it held before is lost.
      compression: "", "GZIP", "ZLIB" or "SNAPPY".

    Raises:
      InvalidArgumentError: if there is no such compression.
    """

    def __init__(self, path: Path, compression: str) -> None:
        self._file = path.open("wb")
        self._compressor = Compressor(self._file, compression)

    def write(self, components: Sequence[Any]) -> None:
        """Appends an element, given by its components in flat order.

        Raises:
          InvalidArgumentError: if TensorFlow has no such data type.
        """
        for component in components:
            self._compressor.write(encode_record(serialize(to_proto(component))))

    def close(self) -> None:
        """Returns when the disk has it all."""
        self._compressor.finish()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        """Lets go of the file as it is."""
        self._file.close()


def read_element(file: IO[bytes], filename: str, components: int) -> tuple[int, list[bytes]] | None:
    """How many bytes the next element takes, and its records; ``None`` at the end of the chunk.

    Raises:
      DataLossError: if a record is damaged, or the chunk ends within an element.
    """
    records: list[bytes] = []
    while len(records) < components:
        record = read_record(file, filename)
        if record is None:
            break
        records.append(record)
    if not records:
        return None
    if len(records) < components:
        raise DataLossError(
            message=f"{filename} ends behind {len(records)} of the {components} components of an element"
        )
    return sum(map(len, records)) + FRAME_BYTES * components, records


def decode_component(record: bytes) -> Any:
    """A component: an array, or a NumPy scalar or ``bytes`` where it has no dimension.

    Raises:
      WireError: if the bytes are no tensor.
    """
    array = from_bytes(record)
    return array if array.ndim else array[()]
