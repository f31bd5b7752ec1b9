"""Directories of chunks: what ``Dataset.save`` and ``Dataset.snapshot`` leave behind, in TensorFlow's layout.

    dataset_spec.pb                                 the element spec (``save`` only)
    snapshot.metadata                               a ``SnapshotMetadataRecord``: which run counts, and its dtypes
    <run>/<8 digits>.shard/<8 digits>.snapshot      the chunks of each shard, to be read in order

Every writing is a run of its own, and one that was not finished is named nowhere, so it does not exist for readers.
A directory of a distributed snapshot has a ``DistributedSnapshotMetadata`` as text in ``snapshot.metadata``, and

    DONE | ERROR                                    whether all has been written
    chunks/chunk_<stream>_<number>_<elements>       the chunks, in the order of their numbers, then of their streams
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from google.protobuf import text_format

from tfsvc import nest
from tfsvc.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, NotFoundError, UnimplementedError
from tfsvc.specs import DType
from tfsvc.storage.chunks import ChunkWriter
from tfsvc.storage.folders import Folder
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import WireError, parse, serialize
from tfsvc.wire.specs_codec import decode_spec, encode_spec
from tfsvc.wire.tensors import dtype_of, wire_dtype

SPEC_FILE = "dataset_spec.pb"
METADATA_FILE = "snapshot.metadata"
VERSION = 2
"""Of the chunks: TFRecord files of tensors."""


@dataclass(frozen=True)
class Stored:
    """What a directory holds.

    Attributes:
      shards: the chunks of each shard, in order.
      element_spec: the nest of specs of an element, or ``None`` where the directory does not say.
      compression: of the chunks, or ``None`` where the directory does not say.
      count: how many elements there are, or ``None`` where the directory does not say.
      dtypes: of an element's components, or ``None`` where the directory does not say.
    """

    shards: tuple[tuple[str, ...], ...]
    element_spec: Any
    compression: str | None
    count: int | None
    dtypes: tuple[DType, ...] | None


def find_stored(folder: Folder) -> Stored:
    """What can be read from ``folder``.

    Raises:
      NotFoundError: if nothing was saved there, or the saving did not come to its end, or not yet.
      DataLossError: if the metadata are damaged.
      FailedPreconditionError: if a distributed save failed.
      UnimplementedError: if the chunks have a format of TensorFlow's past.
    """
    try:
        metadata = folder.read(METADATA_FILE)
    except NotFoundError as error:
        raise NotFoundError(
            message=f"Could not find metadata file [{folder.address(METADATA_FILE)}]: no dataset was saved to "
            f"{folder}, or not to its end"
        ) from error
    distributed = _as_distributed(metadata)
    return _find_run(folder, metadata) if distributed is None else _find_distributed(folder, distributed)


def _find_run(folder: Folder, metadata: bytes) -> Stored:
    try:
        record = parse(pb.SnapshotMetadataRecord, metadata)
        dtypes = tuple(map(dtype_of, record.dtype))
    except (WireError, ValueError) as error:
        raise DataLossError(message=f"{folder.address(METADATA_FILE)} is damaged: {error}") from error
    if record.version != VERSION:
        raise UnimplementedError(
            message=f"{folder} has chunks of version {record.version}, and only {VERSION} can be read; save it anew"
        )
    if not record.finalized:
        raise NotFoundError(message=f"the dataset in {folder} was not saved to its end; save it anew")
    shards = [shard for shard in folder.children(record.run_id) if shard.endswith(".shard")]
    chunks = tuple(
        tuple(folder.address(chunk) for chunk in folder.children(shard) if chunk.endswith(".snapshot"))
        for shard in shards
    )
    spec = decode_spec(folder.read(SPEC_FILE)) if folder.has(SPEC_FILE) else None
    return Stored(chunks, spec, None, record.num_elements, dtypes)


def _as_distributed(metadata: bytes) -> pb.DistributedSnapshotMetadata | None:
    try:
        return text_format.Parse(metadata.decode(), pb.DistributedSnapshotMetadata())
    except (text_format.ParseError, UnicodeDecodeError):
        return None


def _find_distributed(folder: Folder, metadata: pb.DistributedSnapshotMetadata) -> Stored:
    if folder.has("ERROR"):
        raise FailedPreconditionError(
            message=f"Failed to load tf.data snapshot at {folder}. The save job failed to write it. "
            f"Status: {folder.read('ERROR').decode()}"
        )
    if not folder.has("DONE"):
        raise NotFoundError(message=f"the save job that writes {folder} has not ended; load(wait=True) waits for it")
    names = [name for name in folder.children("chunks") if name.startswith("chunks/chunk_")]
    chunks = sorted(_Chunk.of(name, folder) for name in names)
    counts = [chunk.elements for chunk in chunks]
    return Stored(
        tuple((chunk.path,) for chunk in chunks),
        decode_spec(metadata.element_spec),
        metadata.compression,
        sum(counts) if all(count >= 0 for count in counts) else None,
        None,
    )


class _Chunk(NamedTuple):
    """What the name of a chunk says, in the order of reading; -1 elements stand for a number that nobody knows."""

    number: int
    stream: int
    elements: int
    path: str

    @staticmethod
    def of(name: str, folder: Folder) -> _Chunk:
        stream, number, elements = map(int, name.removeprefix("chunks/chunk_").split("_"))
        return _Chunk(number, stream, elements, folder.address(name))


class RunWriter:
    """Writes the chunks of one run; they count from :meth:`commit` on.

    Args:
      folder: where runs lie; made if there is none.
      compression: of the chunks.

    Attributes:
      count: elements written.
    """

    def __init__(self, folder: Folder, compression: str) -> None:
        self._folder = folder
        self._compression = compression
        self._run = str(uuid.uuid4().int >> 64)
        self._open: dict[int, ChunkWriter] = {}
        self._chunks: dict[int, int] = {}
        self.count = 0
        folder.make(self._run)

    def write(self, components: Sequence[Any], shard: int) -> None:
        """Appends an element to a shard.

        Raises:
          InvalidArgumentError: if the shard's number is negative, or the element has no components.
        """
        if shard < 0 or not components:
            what = f"goes to shard {shard}" if shard < 0 else "has no components"
            raise InvalidArgumentError(message=f"an element {what}, and so cannot be saved")
        writer = self._open.get(shard)
        if writer is None:
            writer = self._open[shard] = self._begin_chunk(shard)
        writer.write(components)
        self.count += 1

    def _begin_chunk(self, shard: int) -> ChunkWriter:
        number = self._chunks.get(shard, 0)
        self._chunks[shard] = number + 1
        return ChunkWriter(self._folder.begin(_chunk(self._run, shard, number)), self._compression)

    def save(self) -> Any:
        """Ends the open chunks; says what :meth:`resumed` needs to go on behind them."""
        self._end_chunks()
        return self._run, dict(self._chunks), self.count

    @staticmethod
    def resumed(folder: Folder, compression: str, state: Any) -> RunWriter | None:
        """A new run that begins with the chunks a saved one had ended; ``None`` if they are gone."""
        saved, chunks, count = state
        writer = RunWriter(folder, compression)
        try:
            for shard, many in chunks.items():
                for number in range(many):
                    folder.share(_chunk(saved, shard, number), _chunk(writer._run, shard, number))
        except NotFoundError:
            writer.abandon()
            return None
        writer._chunks, writer.count = dict(chunks), count
        return writer

    def commit(self, dtypes: Sequence[DType], element_spec: Any = None, graph_hash: str = "") -> None:
        """Makes this run the one that counts, all or nothing."""
        self._end_chunks()
        self._folder.sync(self._run)
        if element_spec is not None:
            self._write_spec(encode_spec(element_spec))
        record = pb.SnapshotMetadataRecord(
            graph_hash=graph_hash,
            run_id=self._run,
            creation_timestamp=time.time_ns() // 1000,
            version=VERSION,
            dtype=map(wire_dtype, dtypes),
            num_elements=self.count,
            finalized=True,
        )
        self._folder.write(METADATA_FILE, serialize(record))

    def _write_spec(self, spec: bytes) -> None:
        if self._folder.has(SPEC_FILE) and self._folder.read(SPEC_FILE) == spec:
            return
        # An older run must not be read with a newer spec, should all end here.
        self._folder.remove(METADATA_FILE)
        self._folder.write(SPEC_FILE, spec)

    def release(self) -> None:
        """Lets go of the open chunks, which are not whole, and leaves those that are."""
        for writer in self._open.values():
            writer.abandon()
        self._open.clear()

    def abandon(self) -> None:
        """Removes the run."""
        self.release()
        self._folder.remove(self._run)

    def _end_chunks(self) -> None:
        while self._open:
            shard = next(iter(self._open))
            self._open.pop(shard).close()


def _chunk(run: str, shard: int, number: int) -> str:
    return f"{run}/{shard:08}.shard/{number:08}.snapshot"


def dtypes_of(element_spec: Any) -> list[DType]:
    """The dtypes of an element's components in flat order."""
    return [spec.dtype for spec in nest.flatten(element_spec)]
