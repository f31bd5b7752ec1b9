"""Does to the directories of distributed snapshots what a dispatcher says."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, assert_never

from tfsvc.errors import Code, RpcError, UnimplementedError, from_exception
from tfsvc.protocol.contract import Store, Stored
from tfsvc.protocol.filing import AssignStream, CloseDirectory, CreateDirectory, Deed, KeepSplit, PlaceChunk
from tfsvc.storage import distributed
from tfsvc.storage.bucket import PATIENCE_S
from tfsvc.storage.folders import BucketFolder, folder_at
from tfsvc.wire.messages import encode

CREATE_S: Final = 6.0
"""How long a bucket may take to answer whoever begins a snapshot, and would ask again before long."""


def store(command: Store) -> Stored:
    """Never raises: what goes wrong is told."""
    try:
        _do(command.deed)
    except Exception as error:
        return Stored(command.number, _told(error, command.deed.path))
    return Stored(command.number)


def _do(deed: Deed) -> None:
    folder = folder_at(deed.path, CREATE_S if isinstance(deed, CreateDirectory) else PATIENCE_S)
    match deed:
        case CreateDirectory(_, identity, dataset, metadata):
            if isinstance(folder, BucketFolder) and not dataset.program:
                raise UnimplementedError(
                    message="TensorFlow's workers write to a path, not to a bucket; save to a path"
                )
            distributed.create(folder, identity, metadata.element_spec, metadata.compression, encode(dataset))
        case AssignStream(_, stream, worker_address, sources):
            distributed.assign(folder, stream, worker_address, sources)
        case KeepSplit(_, stream, source, repetition, local, overall, value):
            distributed.keep_split(folder, stream, source, repetition, local, overall, value)
        case PlaceChunk(_, stream, number, attempt, elements):
            distributed.place_chunk(folder, stream, number, attempt, elements)
        case CloseDirectory(_, error):
            distributed.close(folder, error)
        case _:
            assert_never(deed)


def _told(error: Exception, path: str) -> RpcError:
    told = from_exception(error, f"while the dispatcher wrote the snapshot at {path}")
    # It is the bucket that is out of reach: to ask the dispatcher again and again would help nobody.
    return replace(told, code=Code.FAILED_PRECONDITION) if told.retriable else told
