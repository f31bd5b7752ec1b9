"""What a dispatcher must remember of distributed snapshots: a fold over their updates.

A stream is a lane that the disk reads: an ordered list of leased splits, run by one pipeline, whose checkpoint stands
behind the last chunk that is part of the snapshot.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from tfsvc.errors import RpcError
from tfsvc.protocol import snapshot_updates as s
from tfsvc.protocol.messages import DatasetDef, DistributedSnapshotMetadata
from tfsvc.protocol.splits import Checkpoint, Lease, cut, extended


@dataclass(slots=True)
class Stream:
    """Attributes: ``gifts`` has the last split of each source, where TensorFlow's worker writes the stream."""

    path: str
    index: int
    lane_id: int
    worker_address: str
    incarnation: int
    attempt: int = 1
    done: bool = False
    commits: list[s.Commit] = field(default_factory=list)
    checkpoint: Checkpoint = Checkpoint()
    leases: dict[tuple[int, int], Lease] = field(default_factory=dict)
    """Per provider and repetition: what was leased behind the checkpoint."""
    gifts: dict[int, s.Gift] = field(default_factory=dict)

    @property
    def elements(self) -> int:
        return sum(commit.elements for commit in self.commits)

    def given(self, source: int) -> int:
        """How many splits of a source TensorFlow's worker was given."""
        gift = self.gifts.get(source)
        return 0 if gift is None else gift.local + 1


@dataclass(slots=True)
class Snapshot:
    path: str
    dataset: DatasetDef
    metadata: DistributedSnapshotMetadata
    seed: int
    nonce: str
    created: bool = False
    ended: bool = False
    error: RpcError | None = None
    closed: bool = False
    streams: list[Stream] = field(default_factory=list)
    cursors: dict[tuple[int, int], int] = field(default_factory=dict)
    """By provider and repetition: how many splits were handed out."""

    @property
    def active(self) -> bool:
        return self.created and not self.ended

    @property
    def native(self) -> bool:
        """Whether workers of ours write it, and not TensorFlow's."""
        return bool(self.dataset.program)

    @property
    def splits(self) -> int:
        """How many splits were handed out in all."""
        return sum(self.cursors.values())

    def open(self) -> list[Stream]:
        return [stream for stream in self.streams if not stream.done]


@dataclass(slots=True)
class Snapshots:
    by_path: dict[str, Snapshot] = field(default_factory=dict)
    streams: dict[int, Stream] = field(default_factory=dict)
    """By the lane under which each leases its splits."""

    def of(self, stream: Stream) -> Snapshot:
        return self.by_path[stream.path]

    def apply(self, update: s.SnapshotUpdate) -> None:
        """Makes one fact true."""
        match update:
            case s.RegisterSnapshot(path, dataset, metadata, seed, nonce):
                self.by_path[path] = Snapshot(path, dataset, metadata, seed, nonce)
            case s.CreateSnapshot(path):
                self.by_path[path].created = True
            case s.ForgetSnapshot(path):
                del self.by_path[path]
            case s.OpenStream(path, lane_id, worker_address, incarnation):
                streams = self.by_path[path].streams
                stream = Stream(path, len(streams), lane_id, worker_address, incarnation)
                streams.append(stream)
                self.streams[lane_id] = stream
            case s.MoveStream(lane_id, attempt, worker_address, incarnation):
                stream = self.streams[lane_id]
                stream.attempt, stream.worker_address, stream.incarnation = attempt, worker_address, incarnation
            case s.LeaseToStream(lane_id, lease):
                self._lease(self.streams[lane_id], lease)
            case s.CommitChunk(lane_id, elements, checkpoint, done):
                self._commit(self.streams[lane_id], elements, checkpoint, done)
            case s.GiveToStream(lane_id, source, repetition):
                self._give(self.streams[lane_id], source, repetition)
            case s.FinishStream(lane_id):
                self.streams[lane_id].done = True
            case s.EndSnapshot(path, error):
                self._end(self.by_path[path], error)
            case s.CloseSnapshot(path):
                self.by_path[path].closed = True
            case s.RestoreStream(lane_id, attempt, done, commits, checkpoint, leases, gifts):
                stream = self.streams[lane_id]
                stream.attempt, stream.done, stream.checkpoint = attempt, done, checkpoint
                stream.commits = list(commits)
                stream.leases = {(lease.provider, lease.at.repetition): lease for lease in leases}
                stream.gifts = {gift.source: gift for gift in gifts}
            case s.RestoreSnapshot(path, given):
                self.by_path[path].cursors = {(one.source, one.repetition): one.many for one in given}
            case _:
                assert_never(update)

    def _lease(self, stream: Stream, lease: Lease) -> None:
        key = lease.provider, lease.at.repetition
        stream.leases[key] = extended(stream.leases.get(key), lease)
        cursors = self.of(stream).cursors
        cursors[key] = cursors.get(key, 0) + lease.size

    def _commit(self, stream: Stream, elements: int, checkpoint: Checkpoint, done: bool) -> None:
        if elements:
            stream.commits.append(s.Commit(stream.attempt, elements))
        stream.checkpoint, stream.done = checkpoint, done
        if done:
            stream.leases.clear()
        for provider, (repetition, offset) in enumerate(checkpoint.positions):
            for key in [k for k in stream.leases if k[0] == provider and k[1] < repetition]:
                del stream.leases[key]
            lease = stream.leases.get((provider, repetition))
            if lease is not None and offset > lease.at.offset:
                stream.leases[provider, repetition] = cut(lease, offset)

    def _give(self, stream: Stream, source: int, repetition: int) -> None:
        snapshot = self.of(stream)
        position = snapshot.cursors.get((source, repetition), 0)
        stream.gifts[source] = s.Gift(source, repetition, position, stream.given(source), snapshot.splits)
        snapshot.cursors[source, repetition] = position + 1

    def _end(self, snapshot: Snapshot, error: RpcError | None) -> None:
        snapshot.ended, snapshot.error = True, error
        # Nobody runs it any more, and a definition may be large.
        snapshot.dataset = DatasetDef(plans=snapshot.dataset.plans)
