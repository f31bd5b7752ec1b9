"""The updates of distributed snapshots; see ``updates`` for the others."""

from __future__ import annotations

from typing import NamedTuple

from tfsvc.errors import RpcError
from tfsvc.protocol.messages import DatasetDef, DistributedSnapshotMetadata
from tfsvc.protocol.splits import Checkpoint, Lease
from tfsvc.record import record


class Commit(NamedTuple):
    """A chunk that is part of a snapshot: which attempt wrote it, and how many elements it holds."""

    attempt: int
    elements: int


class Gift(NamedTuple):
    """A split that TensorFlow's worker was given: ``local`` counts those of its stream and source, ``overall`` all."""

    source: int
    repetition: int
    position: int
    local: int
    overall: int


class Given(NamedTuple):
    """How many splits of a source and repetition were handed out."""

    source: int
    repetition: int
    many: int


@record
class RegisterSnapshot:
    """A snapshot is wanted; its directory is about to be made."""

    path: str
    dataset: DatasetDef
    metadata: DistributedSnapshotMetadata
    seed: int
    nonce: str


@record
class CreateSnapshot:
    """The directory is there."""

    path: str


@record
class ForgetSnapshot:
    """The directory could not be made."""

    path: str


@record
class OpenStream:
    """A snapshot has one more stream, which a life of a worker writes."""

    path: str
    lane_id: int
    worker_address: str
    incarnation: int


@record
class MoveStream:
    """A stream goes on from its last chunk as another attempt."""

    lane_id: int
    attempt: int
    worker_address: str
    incarnation: int


@record
class LeaseToStream:
    lane_id: int
    lease: Lease


@record
class CommitChunk:
    """What the stream's current attempt has written since the last chunk is part of the snapshot."""

    lane_id: int
    elements: int
    checkpoint: Checkpoint
    done: bool


@record
class GiveToStream:
    """TensorFlow's ``GetSnapshotSplit`` handed out the next split of a source and repetition."""

    lane_id: int
    source: int
    repetition: int


@record
class FinishStream:
    """A worker of TensorFlow's has written its stream to its end."""

    lane_id: int


@record
class EndSnapshot:
    """Nothing more is written: all is there, or ``error`` says why not."""

    path: str
    error: RpcError | None


@record
class CloseSnapshot:
    """The directory says that it has ended."""

    path: str


# What compacting a journal puts in the place of a history.


@record
class RestoreStream:
    """What a stream that was just opened had come to."""

    lane_id: int
    attempt: int
    done: bool
    commits: tuple[Commit, ...]
    checkpoint: Checkpoint
    leases: tuple[Lease, ...]
    gifts: tuple[Gift, ...]


@record
class RestoreSnapshot:
    """What was handed out of a snapshot."""

    path: str
    given: tuple[Given, ...]


SnapshotUpdate = (
    RegisterSnapshot
    | CreateSnapshot
    | ForgetSnapshot
    | OpenStream
    | MoveStream
    | LeaseToStream
    | CommitChunk
    | GiveToStream
    | FinishStream
    | EndSnapshot
    | CloseSnapshot
    | RestoreStream
    | RestoreSnapshot
)
