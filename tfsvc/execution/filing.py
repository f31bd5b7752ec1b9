"""Does to the directories of distributed snapshots what a dispatcher says."""

from __future__ import annotations

from typing import assert_never

from tfsvc.errors import RpcError, from_exception
from tfsvc.protocol.contract import Store, Stored
from tfsvc.protocol.filing import AssignStream, CloseDirectory, CreateDirectory, Deed, KeepSplit, PlaceChunk
from tfsvc.storage import distributed
from tfsvc.wire.messages import encode


def store(command: Store) -> Stored:
    """Never raises: what goes wrong is told."""
    try:
        _do(command.deed)
    except Exception as error:
        return Stored(command.number, _told(error, command.deed.path))
    return Stored(command.number)


def _do(deed: Deed) -> None:
    match deed:
        case CreateDirectory(path, identity, dataset, metadata):
            distributed.create(path, identity, metadata.element_spec, metadata.compression, encode(dataset))
        case AssignStream(path, stream, worker_address, sources):
            distributed.assign(path, stream, worker_address, sources)
        case KeepSplit(path, stream, source, repetition, local, overall, value):
            distributed.keep_split(path, stream, source, repetition, local, overall, value)
        case PlaceChunk(path, stream, number, attempt, elements):
            distributed.place_chunk(path, stream, number, attempt, elements)
        case CloseDirectory(path, error):
            distributed.close(path, error)
        case _:
            assert_never(deed)


def _told(error: Exception, path: str) -> RpcError:
    return from_exception(error, f"while the dispatcher wrote the snapshot at {path}")
