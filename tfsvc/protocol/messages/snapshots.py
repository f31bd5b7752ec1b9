"""What is said of distributed snapshots: datasets whose elements all workers together write to a directory."""

from __future__ import annotations

from dataclasses import field
from enum import IntEnum

from tfsvc.errors import RpcError
from tfsvc.protocol.messages.shared import DatasetDef
from tfsvc.protocol.splits import Checkpoint, Lease
from tfsvc.record import record


@record
class DistributedSnapshotMetadata:
    """How elements are written; ``element_spec`` is a serialized ``StructuredValue``."""

    element_spec: bytes = b""
    compression: str = ""


@record
class SnapshotTaskDef:
    """A worker's stream of a snapshot.

    Attributes:
      lane_id: *ours*: under which the stream leases its splits; 0 from TensorFlow.
      attempt: *ours*: which writer of the stream the worker is.
    """

    base_path: str = ""
    stream_index: int = 0
    num_sources: int = 0
    metadata: DistributedSnapshotMetadata = DistributedSnapshotMetadata()
    lane_id: int = 0
    attempt: int = 0


@record
class SnapshotTaskProgress:
    """``error``: the stream cannot be written, and so the snapshot has failed."""

    snapshot_task: SnapshotTaskDef = SnapshotTaskDef()
    completed: bool = False
    error: RpcError | None = None


@record
class SnapshotRequest:
    dataset: DatasetDef = field(default_factory=DatasetDef)
    path: str = ""
    metadata: DistributedSnapshotMetadata = DistributedSnapshotMetadata()
    nonce: str = ""
    """*Ours*: the same for every repetition of one call, so that a retry finds what the first try began."""


@record
class SnapshotResponse:
    pass


@record
class GetSnapshotSplitRequest:
    worker_address: str = ""
    base_path: str = ""
    stream_index: int = 0
    source_index: int = 0
    repetition_index: int = 0


@record
class GetSnapshotSplitResponse:
    """One split as an int64 scalar, or the end of a repetition; and how many splits of the source came before."""

    split: int | None = None
    end_of_splits: bool = False
    local_split_index: int = 0


class StreamState(IntEnum):
    UNSPECIFIED = 0
    ASSIGNED = 1
    ORPHAN = 2
    UNKNOWN = 3
    DONE = 4


@record
class SnapshotStreamInfo:
    """``worker_address``, ``chunks`` and ``elements`` are *ours*: who writes it, and what is safe of it."""

    index: int = 0
    state: StreamState = StreamState.UNSPECIFIED
    worker_address: str = ""
    chunks: int = 0
    elements: int = 0


@record
class GetSnapshotStreamsRequest:
    path: str = ""


@record
class GetSnapshotStreamsResponse:
    streams: tuple[SnapshotStreamInfo, ...] = ()
    ended: bool = False
    """*Ours*: whether nothing more will be written."""
    error: RpcError | None = None
    """*Ours*: why it ended before its time."""
    splits: int = 0
    """*Ours*: how many splits were handed out, over all sources and repetitions."""
    splits_total: int | None = None
    """*Ours*: how many splits one repetition of all sources has; ``None`` for a source without end."""


@record
class OpenStreamRequest:
    """*Ours*: a worker learns where to start a stream."""

    lane_id: int = 0
    attempt: int = 0
    wanted: int = 0


@record
class OpenStreamResponse:
    """*Ours*: where a stream starts, and what feeds it.

    Attributes:
      checkpoint: behind the last chunk that is part of the snapshot. Its state lies in the directory.
      leases: the splits that were leased to it behind the checkpoint.
      chunks: how many chunks the stream has.
      saved_by: the attempt that wrote the last of them.
      seed: of the luck of unseeded shuffles.
    """

    dataset: DatasetDef = field(default_factory=DatasetDef)
    checkpoint: Checkpoint = Checkpoint()
    leases: tuple[Lease, ...] = ()
    chunks: int = 0
    saved_by: int = 0
    seed: int = 0


@record
class CommitChunkRequest:
    """*Ours*: a chunk is whole on the disk, and becomes part of the snapshot.

    Attributes:
      number: how many chunks the stream has before this one.
      elements: how many it holds; 0 for no chunk.
      checkpoint: where the stream goes on behind it.
      done: whether that is the stream's end.
    """

    lane_id: int = 0
    attempt: int = 0
    number: int = 0
    elements: int = 0
    checkpoint: Checkpoint = Checkpoint()
    done: bool = False


@record
class CommitChunkResponse:
    pass


@record
class GetSnapshotTaskProgressesRequest:
    pass


@record
class GetSnapshotTaskProgressesResponse:
    snapshot_task_progresses: tuple[SnapshotTaskProgress, ...] = ()
