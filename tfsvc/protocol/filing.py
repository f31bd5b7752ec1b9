"""Filing: what a dispatcher has done to the directories of distributed snapshots.

Every deed may be done again after a crash, and then changes nothing. Their layout is TensorFlow's.
"""

from __future__ import annotations

from tfsvc.errors import RpcError
from tfsvc.protocol.messages import DatasetDef, DistributedSnapshotMetadata
from tfsvc.record import record


@record
class CreateDirectory:
    """Makes the directory of a snapshot, which must not exist yet, unless for the same ``id``."""

    path: str
    id: int
    dataset: DatasetDef
    metadata: DistributedSnapshotMetadata


@record
class AssignStream:
    """Makes a stream's directory, which says that TensorFlow's worker writes it."""

    path: str
    stream: int
    worker_address: str
    sources: int


@record
class KeepSplit:
    """Writes down a split that TensorFlow's worker is given, so that the worker can go on after a restart.

    Attributes:
      local: how many splits of the source its stream was given before.
      overall: how many splits were handed out before.
    """

    path: str
    stream: int
    source: int
    repetition: int
    local: int
    overall: int
    value: int


@record
class PlaceChunk:
    """Makes a chunk that an attempt has written part of the snapshot."""

    path: str
    stream: int
    number: int
    attempt: int
    elements: int


@record
class CloseDirectory:
    """Says that the snapshot is whole, or why it will never be."""

    path: str
    error: RpcError | None


Deed = CreateDirectory | AssignStream | KeepSplit | PlaceChunk | CloseDirectory
