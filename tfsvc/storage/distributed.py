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

import shutil
from pathlib import Path
from typing import Final

import numpy as np
from google.protobuf import text_format

from tfsvc.errors import AlreadyExistsError, RpcError
from tfsvc.storage.records import encode_record
from tfsvc.storage.snapshots import METADATA_FILE, SPEC_FILE, sync_folder, write_atomically
from tfsvc.wire import tfsvc_pb2 as pb
from tfsvc.wire.errors import serialize
from tfsvc.wire.messages import status_of
from tfsvc.wire.tensors import to_proto

ID_FILE: Final = "snapshot.id"


def create(path: str, identity: int, element_spec: bytes, compression: str, definition: bytes) -> None:
    """Makes the directory.

    Args:
      identity: tells this snapshot from all others.
      element_spec: a serialized ``StructuredValue``.
      definition: a serialized ``DatasetDef``.

    Raises:
      AlreadyExistsError: if there is something at ``path`` that is not this snapshot.
    """
    root = Path(path)
    name = str(identity).encode()
    if not root.exists():
        part = root.with_name(f"{root.name}.{identity}.tmp")
        part.mkdir(parents=True, exist_ok=True)
        write_atomically(part / ID_FILE, name)
        part.rename(root)
    elif not _is_called(root, name):
        raise AlreadyExistsError(
            message=f"tf.data snapshot at {path} already exists. Save to another path, or remove it first."
        )
    (root / "chunks").mkdir(exist_ok=True)
    (root / "streams").mkdir(exist_ok=True)
    write_atomically(root / SPEC_FILE, element_spec)
    write_atomically(root / "dataset_def.proto", definition)
    # Last, since whoever waits for the snapshot looks for it.
    metadata = pb.DistributedSnapshotMetadata(element_spec=element_spec, compression=compression)
    write_atomically(root / METADATA_FILE, text_format.MessageToString(metadata).encode())


def _is_called(root: Path, name: bytes) -> bool:
    try:
        return (root / ID_FILE).read_bytes() == name
    except (FileNotFoundError, NotADirectoryError):
        return False


def assign(path: str, stream: int, worker: str, sources: int) -> None:
    """Makes the directory of a stream that TensorFlow's worker writes."""
    folder = _stream(path, stream)
    for source in range(sources):
        (folder / "splits" / f"source_{source}" / "repetition_0").mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "owner_worker", worker.encode())


def keep_split(path: str, stream: int, source: int, repetition: int, local: int, overall: int, value: int) -> None:
    """Writes a split as TensorFlow's worker reads it after a restart."""
    folder = _stream(path, stream) / "splits" / f"source_{source}" / f"repetition_{repetition}"
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"split_{local}_{overall}.tmp"
    part.write_bytes(encode_record(serialize(to_proto(np.int64(value)))))
    part.replace(part.with_suffix(""))


def uncommitted_chunk(path: str, stream: int, number: int, attempt: int) -> Path:
    """The file in which an attempt writes a chunk."""
    return _stream(path, stream) / "uncommitted_chunks" / f"chunk_{number}_{attempt}"


def checkpoint(path: str, stream: int, number: int, attempt: int) -> Path:
    """The file of the state behind which chunk ``number`` begins, as an attempt has written it."""
    return _stream(path, stream) / "checkpoints" / f"checkpoint_{number}_{attempt}"


def place_chunk(path: str, stream: int, number: int, attempt: int, elements: int) -> None:
    """Moves a chunk to where readers look for it, and lets go of the states before it.

    Raises:
      FileNotFoundError: if it is neither here nor there.
    """
    chunks = Path(path) / "chunks"
    target = chunks / f"chunk_{stream}_{number}_{elements}"
    try:
        uncommitted_chunk(path, stream, number, attempt).replace(target)
    except FileNotFoundError:
        if not target.exists():
            raise
    sync_folder(chunks)
    for old in checkpoint(path, stream, 0, 0).parent.glob("checkpoint_*"):
        if int(old.name.split("_")[1]) <= number:
            old.unlink(missing_ok=True)


def close(path: str, error: RpcError | None) -> None:
    """Says that the snapshot is whole, or why it will never be, and removes what was needed to write it."""
    root = Path(path)
    for scrap in (*root.glob("streams/*/uncommitted_chunks"), *root.glob("streams/*/checkpoints")):
        shutil.rmtree(scrap, ignore_errors=True)
    if error is None:
        write_atomically(root / "DONE", b"")
    else:
        status = status_of(error)
        write_atomically(root / "ERROR", text_format.MessageToString(status).encode())


def _stream(path: str, stream: int) -> Path:
    return Path(path) / "streams" / f"stream_{stream}"
