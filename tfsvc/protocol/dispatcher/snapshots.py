"""Distributed snapshots: all workers together write a dataset to a directory, each element exactly once.

The dispatcher opens a stream for each worker. A worker of ours leases splits for it in groups, writes chunks, and has
each committed: that the chunk is part of the snapshot becomes durable here, and then the file is moved to its place.
When the worker is lost, another goes on behind the last chunk with the same splits, as another attempt of the stream;
what an older attempt writes is committed no more. TensorFlow's workers fetch split by split and commit by themselves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, assert_never

from tfsvc.errors import Code, RpcError
from tfsvc.protocol import messages as m
from tfsvc.protocol import snapshot_updates as s
from tfsvc.protocol.contract import About, Reply
from tfsvc.protocol.dispatcher.snapshot_state import Snapshot, Stream
from tfsvc.protocol.dispatcher.turn import Turn, invalid, not_found, precondition
from tfsvc.protocol.filing import AssignStream, CloseDirectory, CreateDirectory, KeepSplit, PlaceChunk
from tfsvc.protocol.ids import CallId
from tfsvc.protocol.splits import ORIGIN, Lease, SplitPosition, cut, grant, left_of
from tfsvc.protocol.steering import guided

SEED_MAX: Final = (1 << 63) - 1


def begin(turn: Turn, call: CallId, request: m.SnapshotRequest) -> None:
    """A snapshot is wanted; answered when its directory is there."""
    snapshot = turn.state.snapshots.by_path.get(request.path)
    refused = _refusal(turn, request, snapshot)
    if refused is not None:
        turn.reply(call, refused)
    elif snapshot is not None and snapshot.created:
        turn.reply(call, m.SnapshotResponse())
    else:
        if snapshot is None:
            seed = turn.luck.bits() & SEED_MAX
            turn.record(s.RegisterSnapshot(request.path, request.dataset, request.metadata, seed, request.nonce))
        _create(turn, turn.state.snapshots.by_path[request.path], Reply(call, m.SnapshotResponse()))


def _refusal(turn: Turn, request: m.SnapshotRequest, known: Snapshot | None) -> RpcError | None:
    path = request.path
    if not turn.settings.fault_tolerant:
        return invalid(
            f"Saving to {path} requires running tf.data service in the fault tolerant mode: start the dispatcher with "
            "fault_tolerant_mode=True and a work_dir."
        )
    if known is not None and not (request.nonce and request.nonce == known.nonce):
        return RpcError(
            Code.ALREADY_EXISTS, f"tf.data snapshot at {path} is already started or completed; save to another path."
        )
    if not request.dataset.plans:
        return RpcError(Code.UNIMPLEMENTED, f"Saving to {path}: {request.dataset.unsplittable or 'no splits'}")
    return None


def _create(turn: Turn, snapshot: Snapshot, reply: Reply | None) -> None:
    turn.store(CreateDirectory(snapshot.path, snapshot.seed, snapshot.dataset, snapshot.metadata), reply)


def heartbeat(
    turn: Turn, call: CallId, request: m.WorkerHeartbeatRequest, answer: m.WorkerHeartbeatResponse | RpcError
) -> None:
    """Hears of a worker's streams, and tells it which it is to write, with the rest of the answer."""
    if isinstance(answer, RpcError) or request.leaving or request.worker_address in turn.vitals.left:
        turn.reply(call, answer)
        return
    for progress in request.snapshot_task_progress:
        _hear(turn, request.worker_address, progress)
    opened = None if request.draining else _assign_one(turn, request.worker_address)
    tasks = tuple(_describe(turn, stream) for stream in _streams_of(turn, request.worker_address))
    reply = Reply(call, replace(answer, snapshot_tasks=tasks) if tasks else answer)
    if opened is None:
        turn.words.append(reply)
    else:
        # TensorFlow's workers look into the stream's directory at once.
        turn.store(_assignment(turn, opened), reply)


def _hear(turn: Turn, address: str, progress: m.SnapshotTaskProgress) -> None:
    task = progress.snapshot_task
    snapshot = turn.state.snapshots.by_path.get(task.base_path)
    if snapshot is None or not snapshot.active or task.stream_index >= len(snapshot.streams):
        return
    stream = snapshot.streams[task.stream_index]
    if stream.worker_address != address or (snapshot.native and stream.attempt != task.attempt):
        return
    if progress.error is not None:
        _end(turn, snapshot, progress.error)
    elif progress.completed and not snapshot.native and not stream.done:
        turn.record(s.FinishStream(stream.lane_id))
        _end_if_done(turn, snapshot)


def _streams_of(turn: Turn, address: str) -> list[Stream]:
    """What the worker is to write now, one stream of each snapshot at the most."""
    worker = turn.state.workers[address]
    found = []
    for snapshot in turn.state.snapshots.by_path.values():
        if snapshot.active and snapshot.native == worker.native:
            for stream in snapshot.open():
                if stream.worker_address == address:
                    if snapshot.native and stream.incarnation != worker.incarnation:
                        _move(turn, stream, address)
                    found.append(stream)
                    break
    return found


def _assign_one(turn: Turn, address: str) -> Stream | None:
    """Gives a worker that has room a stream of the snapshot with the fewest writers; says which, if TensorFlow's."""
    worker = turn.state.workers[address]
    active = [
        snapshot
        for snapshot in turn.state.snapshots.by_path.values()
        if snapshot.active and snapshot.native == worker.native
    ]
    # TensorFlow's worker writes one stream of a snapshot ever; one of ours can help others to their end.
    mine = [t.path for p in active for t in p.streams if t.worker_address == address and not (p.native and t.done)]
    if len(mine) >= turn.settings.snapshots_max:
        return None
    free = [
        p for p in active if p.path not in mine and (_orphan(turn, p) is not None or not any(t.done for t in p.streams))
    ]
    if not free:
        return None
    snapshot = min(free, key=lambda p: len(p.open()))
    orphan = _orphan(turn, snapshot)
    if orphan is not None:
        _move(turn, orphan, address)
        return None
    lane_id = turn.state.next_lane_id
    turn.record(s.OpenStream(snapshot.path, lane_id, address, worker.incarnation))
    return None if snapshot.native else snapshot.streams[-1]


def _orphan(turn: Turn, snapshot: Snapshot) -> Stream | None:
    """A stream that another worker can go on with."""
    return next((t for t in snapshot.open() if _state(turn, snapshot, t) is m.StreamState.ORPHAN), None)


def _state(turn: Turn, snapshot: Snapshot, stream: Stream) -> m.StreamState:
    """A stream of TensorFlow's is never an orphan: it waits for a worker at the same address."""
    if stream.done:
        return m.StreamState.DONE
    worker = turn.state.workers.get(stream.worker_address)
    gone = worker is None or worker.address in turn.vitals.suspects
    return m.StreamState.ORPHAN if gone and snapshot.native else m.StreamState.ASSIGNED


def _move(turn: Turn, stream: Stream, address: str) -> None:
    if stream.worker_address != address:
        about = About(lane=stream.lane_id, worker=address)
        turn.warn(
            f"stream {stream.index} of {stream.path} goes on at {address} behind {stream.elements} elements", about
        )
    incarnation = turn.state.workers[address].incarnation
    turn.record(s.MoveStream(stream.lane_id, stream.attempt + 1, address, incarnation))


def _describe(turn: Turn, stream: Stream) -> m.SnapshotTaskDef:
    snapshot = turn.state.snapshots.of(stream)
    sources = len(snapshot.dataset.plans)
    return m.SnapshotTaskDef(
        stream.path, stream.index, sources, snapshot.metadata, stream.lane_id if snapshot.native else 0, stream.attempt
    )


def _assignment(turn: Turn, stream: Stream) -> AssignStream:
    sources = len(turn.state.snapshots.of(stream).dataset.plans)
    return AssignStream(stream.path, stream.index, stream.worker_address, sources)


# --- streams of our own workers ---


def leases_to(turn: Turn, lane_id: int) -> bool:
    """Whether a lane is a stream of a snapshot."""
    return lane_id in turn.state.snapshots.streams


def open_stream(turn: Turn, request: m.OpenStreamRequest) -> m.OpenStreamResponse | RpcError:
    """Tells a worker where to start, with the first splits if the stream is new."""
    stream = _current(turn, request.lane_id, request.attempt)
    if isinstance(stream, RpcError):
        return stream
    snapshot = turn.state.snapshots.of(stream)
    if not stream.leases:
        starts = stream.checkpoint.positions or (ORIGIN,) * len(snapshot.dataset.plans)
        for provider, start in enumerate(starts):
            _extend(turn, snapshot, stream, provider, start, request.wanted)
    return m.OpenStreamResponse(
        snapshot.dataset,
        stream.checkpoint,
        tuple(stream.leases.values()),
        len(stream.commits),
        stream.commits[-1].attempt if stream.commits else 0,
        snapshot.seed,
    )


def lease(turn: Turn, request: m.LeaseSplitsRequest) -> m.LeaseSplitsResponse | RpcError:
    """The stream's splits from a position on; asking again gives the same ones."""
    stream = _current(turn, request.lane_id, request.attempt)
    if isinstance(stream, RpcError):
        return stream
    snapshot = turn.state.snapshots.of(stream)
    at = request.at
    if not 0 <= request.provider < len(snapshot.dataset.plans):
        return invalid(f"{stream.path} has {len(snapshot.dataset.plans)} sources; not {request.provider}.")
    held = stream.leases.get((request.provider, at.repetition))
    end = 0 if held is None else held.end
    if at.offset > end:
        return invalid(f"Stream {stream.index} of {stream.path} was leased {end} splits, not {at.offset}.")
    if at.offset == end:
        _extend(turn, snapshot, stream, request.provider, at, request.wanted)
    held = stream.leases.get((request.provider, at.repetition))
    return m.LeaseSplitsResponse(Lease(request.provider, at) if held is None else cut(held, at.offset))


def _extend(turn: Turn, snapshot: Snapshot, stream: Stream, provider: int, at: SplitPosition, wanted: int) -> None:
    held = stream.leases.get((provider, at.repetition))
    if wanted > 0 and (held is None or not held.ended):
        given = snapshot.cursors.get((provider, at.repetition), 0)
        plan = snapshot.dataset.plans[provider]
        size = guided(wanted, left_of(plan, given), len(snapshot.open()))
        turn.record(s.LeaseToStream(stream.lane_id, grant(plan, given, at, provider, size)))


def commit(turn: Turn, request: m.CommitChunkRequest) -> m.CommitChunkResponse | RpcError:
    """What a worker has written becomes part of the snapshot; asking again changes nothing."""
    known = turn.state.snapshots.streams.get(request.lane_id)
    if known is not None and known.attempt == request.attempt and _committed(known, request):
        return m.CommitChunkResponse()
    stream = _current(turn, request.lane_id, request.attempt)
    if isinstance(stream, RpcError):
        return stream
    number = len(stream.commits)
    if request.number != number:
        return invalid(f"Stream {stream.index} of {stream.path} has {number} chunks, not {request.number}.")
    turn.record(s.CommitChunk(stream.lane_id, request.elements, request.checkpoint, request.done))
    if request.elements:
        turn.store(PlaceChunk(stream.path, stream.index, number, stream.attempt, request.elements))
    _end_if_done(turn, turn.state.snapshots.of(stream))
    return m.CommitChunkResponse()


def _committed(stream: Stream, request: m.CommitChunkRequest) -> bool:
    return stream.done if request.done else request.checkpoint.ordinal <= stream.checkpoint.ordinal


def _current(turn: Turn, lane_id: int, attempt: int) -> Stream | RpcError:
    stream = turn.state.snapshots.streams.get(lane_id)
    if stream is None or stream.done or turn.state.snapshots.of(stream).ended:
        return precondition(f"Stream {lane_id} is done or was dropped; its worker can let go of it.")
    if stream.attempt != attempt:
        return precondition(
            f"Attempt {attempt} of stream {stream.index} of {stream.path} is over: attempt {stream.attempt} goes on at "
            f"{stream.worker_address}."
        )
    return stream


# --- streams of TensorFlow's workers ---


def get_split(turn: Turn, call: CallId, request: m.GetSnapshotSplitRequest) -> None:
    """The next split of a source, answered when it is written down; every repetition has a cursor of its own."""
    answer = _next_split(turn, request)
    if not isinstance(answer, KeepSplit):
        turn.reply(call, answer)
        return
    turn.store(answer, Reply(call, m.GetSnapshotSplitResponse(answer.value, local_split_index=answer.local)))


def _next_split(turn: Turn, request: m.GetSnapshotSplitRequest) -> KeepSplit | m.GetSnapshotSplitResponse | RpcError:
    path, source = request.base_path, request.source_index
    snapshot = turn.state.snapshots.by_path.get(path)
    if snapshot is None or not snapshot.active:
        return invalid(f"The dispatcher writes no snapshot at {path}.")
    if not 0 <= request.stream_index < len(snapshot.streams):
        return RpcError(Code.INTERNAL, f"The snapshot at {path} has no stream {request.stream_index}.")
    stream = snapshot.streams[request.stream_index]
    if stream.worker_address != request.worker_address or snapshot.native:
        return RpcError(Code.INTERNAL, f"Stream {stream.index} of {path} is written by {stream.worker_address}.")
    if not 0 <= source < len(snapshot.dataset.plans):
        return invalid(f"The dataset of {path} has {len(snapshot.dataset.plans)} sources; not {source}.")
    repetition = request.repetition_index
    count = snapshot.dataset.plans[source].count
    if count is not None and snapshot.cursors.get((source, repetition), 0) >= count:
        return m.GetSnapshotSplitResponse(end_of_splits=True, local_split_index=stream.given(source))
    turn.record(s.GiveToStream(stream.lane_id, source, repetition))
    return _keep(snapshot, stream, stream.gifts[source])


def _keep(snapshot: Snapshot, stream: Stream, gift: s.Gift) -> KeepSplit:
    value = snapshot.dataset.plans[gift.source].value(gift.position)
    return KeepSplit(snapshot.path, stream.index, gift.source, gift.repetition, gift.local, gift.overall, value)


# --- the end, and what a crash cut short ---


def _end_if_done(turn: Turn, snapshot: Snapshot) -> None:
    """Ends a snapshot whose streams are done, once every chunk is in its place."""
    under_way = any(
        t.deed.path == snapshot.path and isinstance(t.deed, PlaceChunk) for t in turn.vitals.stores.values()
    )
    if snapshot.streams and not snapshot.open() and not under_way:
        _end(turn, snapshot, None)


def _end(turn: Turn, snapshot: Snapshot, error: RpcError | None) -> None:
    if not snapshot.ended:
        turn.record(s.EndSnapshot(snapshot.path, error))
        turn.store(CloseDirectory(snapshot.path, error))


def stored(turn: Turn, number: int, error: RpcError | None) -> None:
    """Something was done to the files, or could not be done."""
    storing = turn.vitals.stores.pop(number)
    deed, reply = storing.deed, storing.reply
    snapshot = turn.state.snapshots.by_path.get(deed.path)
    if snapshot is not None:
        match deed:
            case CreateDirectory():
                if not snapshot.created:
                    turn.record(s.ForgetSnapshot(deed.path) if error else s.CreateSnapshot(deed.path))
            case CloseDirectory():
                _closed(turn, snapshot, error)
            case AssignStream() | KeepSplit() | PlaceChunk():
                if error is not None:
                    _end(turn, snapshot, error.prefixed(f"The dispatcher cannot write to {deed.path}"))
                else:
                    _end_if_done(turn, snapshot)
            case _:
                assert_never(deed)
    if reply is not None:
        turn.words.append(reply if error is None else Reply(reply.call, error))


def _closed(turn: Turn, snapshot: Snapshot, error: RpcError | None) -> None:
    turn.record(s.CloseSnapshot(snapshot.path))
    elements = sum(stream.elements for stream in snapshot.streams)
    if error is not None:
        turn.warn(f"{snapshot.path} cannot be told that its snapshot has ended: {error.message}")
    elif snapshot.error is not None:
        turn.warn(f"the snapshot at {snapshot.path} has failed: {snapshot.error.message}")
    elif snapshot.native:
        chunks = sum(len(stream.commits) for stream in snapshot.streams)
        turn.tell(f"the snapshot at {snapshot.path} is whole: {elements} elements in {chunks} chunks")
    else:
        turn.tell(f"the snapshot at {snapshot.path} is whole")


def mend(turn: Turn) -> None:
    """Does again what may not have been done to the files before a crash."""
    for snapshot in tuple(turn.state.snapshots.by_path.values()):
        if snapshot.closed:
            continue
        if snapshot.ended:
            turn.store(CloseDirectory(snapshot.path, snapshot.error))
        elif not snapshot.created:
            _create(turn, snapshot, None)
        else:
            _mend_streams(turn, snapshot)
            _end_if_done(turn, snapshot)


def _mend_streams(turn: Turn, snapshot: Snapshot) -> None:
    for stream in snapshot.streams:
        if not snapshot.native:
            turn.store(_assignment(turn, stream))
        for gift in stream.gifts.values():
            turn.store(_keep(snapshot, stream, gift))
        for number, (attempt, elements) in enumerate(stream.commits):
            turn.store(PlaceChunk(snapshot.path, stream.index, number, attempt, elements))


def describe(turn: Turn, request: m.GetSnapshotStreamsRequest) -> m.GetSnapshotStreamsResponse | RpcError:
    """How far a snapshot is."""
    snapshot = turn.state.snapshots.by_path.get(request.path)
    if snapshot is None:
        return not_found(f"The dispatcher knows no snapshot at {request.path}.")
    counts = [plan.count for plan in snapshot.dataset.plans]
    streams = tuple(
        m.SnapshotStreamInfo(
            stream.index, _state(turn, snapshot, stream), stream.worker_address, len(stream.commits), stream.elements
        )
        for stream in snapshot.streams
    )
    total = None if None in counts else sum(count for count in counts if count is not None)
    return m.GetSnapshotStreamsResponse(streams, snapshot.closed, snapshot.error, snapshot.splits, total)
