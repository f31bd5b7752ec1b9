"""The updates of distributed snapshots; see ``updates`` for the others."""

from __future__ import annotations

from dataclasses import dataclass

from tfsvc.errors import RpcError
from tfsvc.protocol.messages import DatasetDef, DistributedSnapshotMetadata
from tfsvc.protocol.splits import Checkpoint, Lease


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
)
