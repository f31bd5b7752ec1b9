"""The updates of distributed snapshots; see ``updates`` for the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tfsvc.errors import RpcError
from tfsvc.protocol.messages import DatasetDef, DistributedSnapshotMetadata
from tfsvc.protocol.splits import Checkpoint, Lease


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


@dataclass(frozen=True, slots=True)
class RegisterSnapshot:
    """A snapshot is wanted; its directory is about to be made."""

    path: str
    dataset: DatasetDef
    metadata: DistributedSnapshotMetadata
    seed: int
    nonce: str


@dataclass(frozen=True, slots=True)
class CreateSnapshot:
    """The directory is there."""

    path: str


@dataclass(frozen=True, slots=True)
class ForgetSnapshot:
    """The directory could not be made."""

    path: str


@dataclass(frozen=True, slots=True)
class OpenStream:
    """A snapshot has one more stream, which a life of a worker writes."""

    path: str
    lane_id: int
    worker_address: str
    incarnation: int


@dataclass(frozen=True, slots=True)
class MoveStream:
    """A stream goes on from its last chunk as another attempt."""

    lane_id: int
    attempt: int
    worker_address: str
    incarnation: int


@dataclass(frozen=True, slots=True)
class LeaseToStream:
    lane_id: int
    lease: Lease


@dataclass(frozen=True, slots=True)
class CommitChunk:
    """What the stream's current attempt has written since the last chunk is part of the snapshot."""

    lane_id: int
    elements: int
    checkpoint: Checkpoint
    done: bool


@dataclass(frozen=True, slots=True)
class GiveToStream:
    """TensorFlow's ``GetSnapshotSplit`` handed out the next split of a source and repetition."""

    lane_id: int
    source: int
    repetition: int


@dataclass(frozen=True, slots=True)
class FinishStream:
    """A worker of TensorFlow's has written its stream to its end."""

    lane_id: int


@dataclass(frozen=True, slots=True)
class EndSnapshot:
    """Nothing more is written: all is there, or ``error`` says why not."""

    path: str
    error: RpcError | None


@dataclass(frozen=True, slots=True)
class CloseSnapshot:
    """The directory says that it has ended."""

    path: str


# What compacting a journal puts in the place of a history.


@dataclass(frozen=True, slots=True)
class RestoreStream:
    """What a stream that was just opened had come to."""

    lane_id: int
    attempt: int
    done: bool
    commits: tuple[Commit, ...]
    checkpoint: Checkpoint
    leases: tuple[Lease, ...]
    gifts: tuple[Gift, ...]


@dataclass(frozen=True, slots=True)
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
