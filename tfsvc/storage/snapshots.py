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

import os
import shutil
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf import text_format

from tfsvc import nest
from tfsvc.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, NotFoundError, UnimplementedError
from tfsvc.specs import DType
from tfsvc.storage.chunks import ChunkWriter
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


def find_stored(directory: Path) -> Stored:
    """What can be read from ``directory``.

    Raises:
      NotFoundError: if nothing was saved there, or the saving did not come to its end, or not yet.
      DataLossError: if the metadata are damaged.
      FailedPreconditionError: if a distributed save failed.
      UnimplementedError: if the chunks have a format of TensorFlow's past.
    """
    path = directory / METADATA_FILE
    try:
        metadata = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFoundError(
            message=f"Could not find metadata file [{path}]: no dataset was saved to {directory}, or not to its end"
        ) from error
    distributed = _as_distributed(metadata)
    return _find_run(directory, metadata) if distributed is None else _find_distributed(directory, distributed)


def _find_run(directory: Path, metadata: bytes) -> Stored:
    try:
        record = parse(pb.SnapshotMetadataRecord, metadata)
        dtypes = tuple(map(dtype_of, record.dtype))
    except (WireError, ValueError) as error:
        raise DataLossError(message=f"{directory / METADATA_FILE} is damaged: {error}") from error
    if record.version != VERSION:
        raise UnimplementedError(
            message=f"{directory} has chunks of version {record.version}, and only {VERSION} can be read; save it anew"
        )
    if not record.finalized:
        raise NotFoundError(message=f"the dataset in {directory} was not saved to its end; save it anew")
    shards = sorted((directory / record.run_id).glob("*.shard"))
    chunks = tuple(tuple(map(str, sorted(shard.glob("*.snapshot")))) for shard in shards)
    return Stored(chunks, _read_spec(directory / SPEC_FILE), None, record.num_elements, dtypes)


def _read_spec(path: Path) -> Any:
    return decode_spec(path.read_bytes()) if path.exists() else None


def _as_distributed(metadata: bytes) -> pb.DistributedSnapshotMetadata | None:
    try:
        return text_format.Parse(metadata.decode(), pb.DistributedSnapshotMetadata())
    except (text_format.ParseError, UnicodeDecodeError):
        return None


def _find_distributed(directory: Path, metadata: pb.DistributedSnapshotMetadata) -> Stored:
    failure = directory / "ERROR"
    if failure.exists():
        raise FailedPreconditionError(
            message=f"Failed to load tf.data snapshot at {directory}. The save job failed to write it. "
            f"Status: {failure.read_text()}"
        )
    if not (directory / "DONE").exists():
        raise NotFoundError(message=f"the save job that writes {directory} has not ended; load(wait=True) waits for it")
    chunks = sorted(map(_Chunk.of, (directory / "chunks").glob("chunk_*")))
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
    def of(path: Path) -> _Chunk:
        stream, number, elements = map(int, path.name.removeprefix("chunk_").split("_"))
        return _Chunk(number, stream, elements, str(path))


class RunWriter:
    """Writes the chunks of one run; they count from :meth:`commit` on.

    Args:
      directory: where runs lie; made if there is none.
      compression: of the chunks.

    Attributes:
      count: elements written.
    """

    def __init__(self, directory: Path, compression: str) -> None:
        self._directory = directory
        self._compression = compression
        self._run = str(uuid.uuid4().int >> 64)
        self._open: dict[int, ChunkWriter] = {}
        self._chunks: dict[int, int] = {}
        self.count = 0
        self.path.mkdir(parents=True)

    @property
    def path(self) -> Path:
        """Where the run's shards lie."""
        return self._directory / self._run

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
        folder = self.path / f"{shard:08}.shard"
        folder.mkdir(exist_ok=True)
        number = self._chunks.get(shard, 0)
        self._chunks[shard] = number + 1
        return ChunkWriter(folder / f"{number:08}.snapshot", self._compression)

    def save(self) -> Any:
        """Ends the open chunks; says what :meth:`resumed` needs to go on behind them."""
        self._end_chunks()
        return self._run, dict(self._chunks), self.count

    @staticmethod
    def resumed(directory: Path, compression: str, state: Any) -> RunWriter | None:
        """A new run that begins with the chunks a saved one had ended; ``None`` if they are gone."""
        saved, chunks, count = state
        writer = RunWriter(directory, compression)
        try:
            for shard, many in chunks.items():
                folder = writer.path / f"{shard:08}.shard"
                folder.mkdir()
                for number in range(many):
                    name = f"{number:08}.snapshot"
                    _link(directory / saved / folder.name / name, folder / name)
        except FileNotFoundError:
            writer.abandon()
            return None
        writer._chunks, writer.count = dict(chunks), count
        return writer

    def commit(self, dtypes: Sequence[DType], element_spec: Any = None, graph_hash: str = "") -> None:
        """Makes this run the one that counts, all or nothing."""
        self._end_chunks()
        for folder in (*self.path.iterdir(), self.path, self._directory):
            sync_folder(folder)
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
        write_atomically(self._directory / METADATA_FILE, serialize(record))

    def _write_spec(self, spec: bytes) -> None:
        path = self._directory / SPEC_FILE
        if path.exists() and path.read_bytes() == spec:
            return
        # An older run must not be read with a newer spec, should all end here.
        (self._directory / METADATA_FILE).unlink(missing_ok=True)
        write_atomically(path, spec)

    def release(self) -> None:
        """Lets go of the open chunks, which are not whole, and leaves those that are."""
        for writer in self._open.values():
            writer.abandon()
        self._open.clear()

    def abandon(self) -> None:
        """Removes the run."""
        self.release()
        shutil.rmtree(self.path, ignore_errors=True)

    def _end_chunks(self) -> None:
        while self._open:
            shard = next(iter(self._open))
            self._open.pop(shard).close()


def dtypes_of(element_spec: Any) -> list[DType]:
    """The dtypes of an element's components in flat order."""
    return [spec.dtype for spec in nest.flatten(element_spec)]


def write_atomically(path: Path, data: bytes) -> None:
    """Replaces a file so that a crash leaves the old one or the new one, whole."""
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Returns when the disk knows which files are there."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _link(source: Path, target: Path) -> None:
    """A second name for a file that does not change any more; a copy where the disk has no such names."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, target)
