"""The directory of a distributed snapshot while it is written, in TensorFlow's layout.

    snapshot.metadata, dataset_spec.pb, dataset_def.proto    what is written, and how
    snapshot.id                                              whose directory it is; ours, TensorFlow passes it over
    DONE | ERROR                                             whether all has been written
    chunks/chunk_<stream>_<number>_<elements>                what is part of the snapshot
    streams/stream_<n>/uncommitted_chunks/...                what may become part of it
    streams/stream_<n>/checkpoints/...                       where a stream goes on
    streams/stream_<n>/owner_worker, splits/...              for TensorFlow's workers

Whatever is done here may be done again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from google.protobuf import text_format

from tfsvc.errors import AlreadyExistsError, NotFoundError, RpcError
from tfsvc.storage.folders import Folder
from tfsvc.storage.records import encode_record
from tfsvc.storage.snapshots import METADATA_FILE, SPEC_FILE
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import serialize
from tfsvc.wire.messages import status_of
from tfsvc.wire.tensors import to_proto

ID_FILE: Final = "snapshot.id"
_CHUNK: Final = re.compile(r"chunks/chunk_(\d+)_\d+_(\d+)")


def create(folder: Folder, identity: int, element_spec: bytes, compression: str, definition: bytes) -> None:
    """Makes the directory.

    Args:
      identity: tells this snapshot from all others.
      element_spec: a serialized ``StructuredValue``.
      definition: a serialized ``DatasetDef``.

    Raises:
      AlreadyExistsError: if there is something in ``folder`` that is not this snapshot.
    """
    if not folder.claim(ID_FILE, str(identity)):
        raise AlreadyExistsError(
            message=f"tf.data snapshot at {folder} already exists. Save to another path, or remove it first."
        )
    folder.make("chunks")
    folder.make("streams")
    folder.write(SPEC_FILE, element_spec)
    folder.write("dataset_def.proto", definition)
    # Last, since whoever waits for the snapshot looks for it.
    metadata = pb.DistributedSnapshotMetadata(element_spec=element_spec, compression=compression)
    folder.write(METADATA_FILE, text_format.MessageToString(metadata).encode())


def assign(folder: Folder, stream: int, worker: str, sources: int) -> None:
    """Makes the directory of a stream that TensorFlow's worker writes."""
    for source in range(sources):
        folder.make(f"{_stream(stream)}/splits/source_{source}/repetition_0")
    folder.write(f"{_stream(stream)}/owner_worker", worker.encode())


def keep_split(folder: Folder, stream: int, source: int, repetition: int, local: int, overall: int, value: int) -> None:
    """Writes a split as TensorFlow's worker reads it after a restart."""
    name = f"{_stream(stream)}/splits/source_{source}/repetition_{repetition}/split_{local}_{overall}"
    # The journal knows it too.
    folder.write(name, encode_record(serialize(to_proto(np.int64(value)))), durable=False)


def uncommitted_chunk(stream: int, number: int, attempt: int) -> str:
    """The file in which an attempt writes a chunk."""
    return f"{_stream(stream)}/uncommitted_chunks/chunk_{number}_{attempt}"


def checkpoint(stream: int, number: int, attempt: int) -> str:
    """The file of the state behind which chunk ``number`` begins, as an attempt has written it."""
    return f"{_checkpoints(stream)}/checkpoint_{number}_{attempt}"


def place_chunk(folder: Folder, stream: int, number: int, attempt: int, elements: int) -> None:
    """Moves a chunk to where readers look for it, and lets go of the states before it.

    Raises:
      NotFoundError: if it is neither here nor there.
    """
    folder.move(uncommitted_chunk(stream, number, attempt), f"chunks/chunk_{stream}_{number}_{elements}")
    for old in folder.children(_checkpoints(stream)):
        name = old.rsplit("/", 1)[1]
        if name.startswith("checkpoint_") and int(name.split("_")[1]) <= number:
            folder.remove(old)


def close(folder: Folder, error: RpcError | None) -> None:
    """Says that the snapshot is whole, or why it will never be, and removes what was needed to write it."""
    for stream in folder.children("streams"):
        folder.remove(f"{stream}/uncommitted_chunks")
        folder.remove(f"{stream}/checkpoints")
    if error is None:
        folder.write("DONE", b"")
    else:
        folder.write("ERROR", text_format.MessageToString(status_of(error)).encode())


@dataclass(frozen=True)
class StreamFiles:
    """What is safe of a stream: how many chunks, and how many elements these hold."""

    index: int
    chunks: int
    elements: int


@dataclass(frozen=True)
class Survey:
    """What a directory says of its snapshot.

    Attributes:
      state: ``"writing"``, ``"done"`` or ``"failed"``.
      error: why it has failed.
    """

    state: str
    error: str
    streams: tuple[StreamFiles, ...]


def survey(folder: Folder) -> Survey:
    """How far a snapshot is, without its dispatcher.

    Raises:
      NotFoundError: if there is none in ``folder``.
    """
    if not folder.has(METADATA_FILE):
        raise NotFoundError(message=f"There is no distributed snapshot at {folder}.")
    chunks: dict[int, list[int]] = {
        int(name.rsplit("_", 1)[1]): [] for name in folder.children("streams") if name.startswith("streams/stream_")
    }
    for name in folder.children("chunks"):
        found = _CHUNK.fullmatch(name)
        if found is not None:
            chunks.setdefault(int(found[1]), []).append(int(found[2]))
    streams = tuple(StreamFiles(index, len(held), sum(held)) for index, held in sorted(chunks.items()))
    if folder.has("ERROR"):
        status = text_format.Parse(folder.read("ERROR").decode(), pb.StatusProto())
        return Survey("failed", status.message, streams)
    return Survey("done" if folder.has("DONE") else "writing", "", streams)


def _stream(stream: int) -> str:
    return f"streams/stream_{stream}"


def _checkpoints(stream: int) -> str:
    return f"{_stream(stream)}/checkpoints"
